import Glibc

/// The address of a Unix domain socket; see unix(7).
struct UnixAddress: Hashable, Sendable {
  /// The bytes of `sun_path`, as many as are significant.
  private let bytes: [UInt8]

  /// Creates an address.
  ///
  /// - Parameter name: an absolute path, or `@` and a name in the abstract namespace; `nil` if the text is neither or
  ///   too long.
  init?(_ name: String) {
    // The NUL at the end of a path must fit, too.
    guard name.hasPrefix("/") || name.hasPrefix("@"), (2...107).contains(name.utf8.count) else { return nil }
    // `@` stands for the NUL with which an abstract address begins.
    bytes = name.hasPrefix("@") ? [0] + name.utf8.dropFirst() : Array(name.utf8) + [0]
  }

  /// Returns the path that a socket is connected to; `nil` if it is not a connected Unix socket or its peer has no
  /// path.
  static func pathOfPeer(of descriptor: Int32) -> String? {
    var address = sockaddr_un()
    var length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let code = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
    }
    guard code == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
    let count = min(Int(length), MemoryLayout<sockaddr_un>.size) - MemoryLayout<sa_family_t>.size
    let path = withUnsafeBytes(of: address.sun_path) { $0.prefix(max(count, 0)).prefix { $0 != 0 } }
    return path.isEmpty ? nil : String(decoding: path, as: UTF8.self)
  }

  /// Sends a datagram with sendto(2).
  ///
  /// - Returns: whether the whole datagram was sent.
  func send(_ datagram: [UInt8], over descriptor: Int32, flags: Int32 = 0) -> Bool {
    var target = sockaddr_un()
    target.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: bytes) }
    // The length given here is the length of an abstract address.
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let count = withUnsafePointer(to: &target) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, datagram, datagram.count, flags | Int32(MSG_NOSIGNAL), $0, length)
      }
    }
    return count == datagram.count
  }
}
