import Foundation

enum TCPConnection {
  /// Connects and hangs up. 0, or the `errno` value that tells why it failed; ETIMEDOUT when the time is up. Blocks.
  static func connect(to address: IPv4Address, port: UInt16, milliseconds: Int32 = 2000) -> Int32 {
    let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(AF_INET, kind, 0)
    guard descriptor >= 0 else { return errno }
    defer { close(descriptor) }
    var target = sockaddr_in()
    target.sin_family = sa_family_t(AF_INET)
    target.sin_port = port.bigEndian
    target.sin_addr.s_addr = address.value.bigEndian
    let result = withUnsafePointer(to: &target) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if result == 0 { return 0 }
    guard errno == EINPROGRESS else { return errno }
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    guard poll(&entry, 1, milliseconds) == 1 else { return ETIMEDOUT }
    var code: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 ? code : errno
  }
}
