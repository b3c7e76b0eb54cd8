import Foundation
import Synchronization

/// Listens on a free port of loopback until it is closed, once.
///
/// The descriptor is given back when the last thread that may use it has let go: its number then belongs to another
/// test, whose socket a second `shutdown` would end.
public final class ListeningSocket: Sendable {
  public let port: Int
  private let descriptor: Int32
  private let isClosed = Atomic(false)

  public init(backlog: Int32 = 64) throws {
    descriptor = try TCPSocket.make()
    do {
      port = try TCPSocket.listen(descriptor, backlog: backlog)
    } catch {
      Glibc.close(descriptor)
      throw error
    }
  }

  deinit { Glibc.close(descriptor) }

  /// The next connection, or `nil` once it is closed. Blocks.
  public func accept() -> Int32? {
    while !isClosed.load(ordering: .sequentiallyConsistent) {
      if let socket = TCPSocket.accept(descriptor) { return socket }
      guard errno == EINTR || errno == ECONNABORTED else { return nil }
    }
    return nil
  }

  /// Ends it; a thread that waits in `accept` goes on.
  public func close() {
    guard !isClosed.exchange(true, ordering: .sequentiallyConsistent) else { return }
    shutdown(descriptor, CInt(SHUT_RDWR))
  }
}
