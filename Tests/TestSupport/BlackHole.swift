import Foundation

/// A port on loopback that never answers, as the address of a machine that has left: nothing is accepted and nothing
/// refused. (Its queue of connections is full, and Linux drops what comes then.)
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
