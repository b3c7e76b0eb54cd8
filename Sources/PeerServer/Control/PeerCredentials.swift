import Glibc
import NIOCore

/// Who is at the other end of a Unix socket: `struct ucred` of unix(7), which Glibc shows only to programs in C.
struct PeerCredentials: Sendable {
  var process: pid_t = 0
  var user: uid_t = 0
  var group: gid_t = 0

  /// As the kernel noted it when the other side connected; `nil` where it does not say.
  static func of(_ channel: any Channel) async -> PeerCredentials? {
    guard let socket = channel as? any SocketOptionProvider else { return nil }
    return try? await socket.unsafeGetSocketOption(
      level: .init(rawValue: SOL_SOCKET), name: .init(rawValue: SO_PEERCRED)
    ).get()
  }
}
