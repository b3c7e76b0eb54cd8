import Glibc

/// Where a socket of this machine is, as unix(7) has it.
struct UnixAddress: Hashable, Sendable {
  /// What `sun_path` is to be, as long as it counts.
  private let bytes: [UInt8]

  /// - Parameter name: an absolute path, or `@` and a name of the abstract space; `nil` for what is neither, or too long.
  init?(_ name: String) {
    // A path ends with a NUL that must fit, too.
    guard name.hasPrefix("/") || name.hasPrefix("@"), (2...107).contains(name.utf8.count) else { return nil }
    // `@` stands for the NUL with which an abstract address begins.
    bytes = name.hasPrefix("@") ? [0] + name.utf8.dropFirst() : Array(name.utf8) + [0]
  }

  /// The path that a socket is connected to; `nil` where it is no connected socket of this machine, or has none.
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

  /// One datagram, as sendto(2) sends it.
  ///
  /// - Returns: whether it was taken.
  func send(_ datagram: [UInt8], over descriptor: Int32, flags: Int32 = 0) -> Bool {
    var target = sockaddr_un()
    target.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &target.sun_path) { $0.copyBytes(from: bytes) }
    // An abstract address is as long as is said here.
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    let count = withUnsafePointer(to: &target) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        sendto(descriptor, datagram, datagram.count, flags | Int32(MSG_NOSIGNAL), $0, length)
      }
    }
    return count == datagram.count
  }
}
