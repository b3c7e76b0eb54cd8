import Foundation
import Synchronization

/// A socket that listens on a free loopback port until it is closed.
///
/// The descriptor is closed only when the last thread that may use it has released this object. Otherwise its number
/// could already belong to another test's socket, which a second `shutdown` would end.
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

  /// Waits for the next connection. Returns `nil` once the socket is closed.
  public func accept() -> Int32? {
    while !isClosed.load(ordering: .sequentiallyConsistent) {
      if let socket = TCPSocket.accept(descriptor) { return socket }
      guard errno == EINTR || errno == ECONNABORTED else { return nil }
    }
    return nil
  }

  /// Stops listening. A thread that waits in `accept` returns.
  public func close() {
    guard !isClosed.exchange(true, ordering: .sequentiallyConsistent) else { return }
    shutdown(descriptor, CInt(SHUT_RDWR))
  }
}
