import NIOCore
import Synchronization

extension NIOAsyncChannel where Outbound == Never {
  /// Serves each connection that comes in a task of its own, until the task is cancelled. One too many is closed.
  ///
  /// - Parameter limit: served at the same time.
  func serveEach<Connection: Sendable>(
    atMost limit: Int, _ serve: @escaping @Sendable (Connection) async -> Void
  ) async where Inbound == HandedOver<Connection> {
    let count = Mutex(0)
    try? await executeThenClose { connections in
      try await withThrowingDiscardingTaskGroup { group in
        for try await accepted in connections {
          // One that is not taken is closed.
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
