import Glibc

/// An IPv4 address, as a number.
public struct IPv4Address: Hashable, Sendable, CustomStringConvertible {
  /// The address as a number, with the first part of the dotted form in the highest byte.
  public let value: UInt32

  /// Creates an address from a number.
  /// - Parameter value: see ``value``.
  public init(value: UInt32) { self.value = value }

  /// Creates an address from its dotted form of four numbers.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let bytes = parts.compactMap { UInt8($0) }
    guard parts.count == 4, bytes.count == 4 else { return nil }
    value = bytes.reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Creates an address from a `sockaddr`; nil if it is absent or of another family.
  init?(_ address: UnsafeMutablePointer<sockaddr>?) {
    guard let address, Int32(address.pointee.sa_family) == AF_INET else { return nil }
    value = address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
      UInt32(bigEndian: $0.pointee.sin_addr.s_addr)
    }
  }

  /// The four bytes, in the order of the dotted form.
  public var bytes: [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
  public var description: String { bytes.map(String.init).joined(separator: ".") }

  /// Returns whether the address is in a network, given by its first bits.
  ///
  /// - Parameter prefixLength: the number of significant bits, 0 to 32; 0 matches every address. Other values match
  ///   none.
  public func isIn(_ network: IPv4Address, prefixLength: Int) -> Bool {
    guard (1...32).contains(prefixLength) else { return prefixLength == 0 }
    return (value ^ network.value) >> UInt32(32 - prefixLength) == 0
  }
}
