import Foundation

/// A loopback port that never answers, like the address of a machine that has left: connections are neither accepted
/// nor refused. (Its backlog is full, and Linux drops further SYNs.)
public final class BlackHole: Sendable {
  public let port: Int
  private let sockets: [Int32]

  public init() throws {
    let listener = try TCPSocket.make()
    port = try TCPSocket.listen(listener, backlog: 0)
    sockets = [listener, TCPSocket.connect(to: port)].compactMap(\.self)
  }

  deinit {
    for socket in sockets { close(socket) }
  }
}
