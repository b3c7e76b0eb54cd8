import Glibc

/// An IPv4 address, as a number.
public struct IPv4Address: Hashable, Sendable, CustomStringConvertible {
  /// The first number of the dotted form in the highest byte.
  public let value: UInt32

  /// - Parameter value: the first number of the dotted form in the highest byte, as in ``value``.
  public init(value: UInt32) { self.value = value }

  /// From the dotted form, of four numbers.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let bytes = parts.compactMap { UInt8($0) }
    guard parts.count == 4, bytes.count == 4 else { return nil }
    value = bytes.reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Nil if it is an address of another family, or none.
  init?(_ address: UnsafeMutablePointer<sockaddr>?) {
    guard let address, Int32(address.pointee.sa_family) == AF_INET else { return nil }
    value = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
      UInt32(bigEndian: $0.pointee.sin_addr.s_addr)
    }
  }

  /// Four, in the order of the dotted form.
  public var bytes: [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
  public var description: String { bytes.map(String.init).joined(separator: ".") }

  /// Whether the first bits are those of `network`, whose other bits do not matter.
  ///
  /// - Parameter prefixLength: how many bits, 0 to 32: 0 is every network. Beyond that, no address is in it.
  public func isIn(_ network: IPv4Address, prefixLength: Int) -> Bool {
    guard (1...32).contains(prefixLength) else { return prefixLength == 0 }
    return (value ^ network.value) >> UInt32(32 - prefixLength) == 0
  }
}
