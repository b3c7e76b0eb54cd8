import NIOCore
import Synchronization

extension NIOAsyncChannel where Outbound == Never {
  /// Serves each accepted connection in a task of its own, until the task is cancelled. Closes connections over the
  /// limit.
  ///
  /// - Parameter limit: the maximum number of connections served at a time.
  func serveEach<Connection: Sendable>(
    atMost limit: Int, _ serve: @escaping @Sendable (Connection) async -> Void
  ) async where Inbound == DisposableBox<Connection> {
    let count = Mutex(0)
    try? await executeThenClose { connections in
      try await withThrowingDiscardingTaskGroup { group in
        for try await accepted in connections {
          // A connection that is not taken closes itself.
          guard count.withLock(\.self) < limit, let connection = accepted.take() else { continue }
          count.withLock { $0 += 1 }
          group.addTask { @Sendable in
            await serve(connection)
            count.withLock { $0 -= 1 }
          }
        }
      }
    }
  }
}
