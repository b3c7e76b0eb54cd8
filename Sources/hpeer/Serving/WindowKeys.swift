import Foundation
import HealthModel
import HealthOperations
import ServiceLifecycle
import Terminal

/// The keys of a terminal on which a server runs: opens a pairing window at once, and a new one whenever `n` is typed.
struct WindowKeys: Service {
  let operation: ServeOperation
  /// What a machine that pairs in a window opened here may read; nil for what it may read already, or everything.
  let scope: SampleFilter?
  /// Says that the server listens.
  let listening: AsyncStream<Void>

  func run() async throws {
    await cancelWhenGracefulShutdown {
      guard await listening.first(where: { _ in true }) != nil else { return }
      await openWindow()
      for await line in LineReader() where line.trimmingCharacters(in: .whitespaces).lowercased() == "n" {
        await openWindow()
      }
    }
    // The server is still at work: this service must not be the first to end.
    try? await gracefulShutdown()
  }

  private func openWindow() async {
    do {
      try await operation.openWindow(scope: scope)
    } catch {
      Console.warn("\(error)")
    }
  }
}
