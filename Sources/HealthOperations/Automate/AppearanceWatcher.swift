import Foundation
import PeerClient
import PeerTrust

/// A watcher that waits for a paired machine to appear on the network. Only a running service can notice that.
struct AppearanceWatcher: AutomationWatcher {
  let name: String
  let context: AutomationContext
  private var appearances: AsyncThrowingStream<Void, any Error>.Iterator?
  private var isThere = false

  init(name: String, context: AutomationContext) { (self.name, self.context) = (name, context) }

  mutating func pending() async throws -> AutomationOccasion? {
    guard isThere else { return nil }
    isThere = false
    return .peer(name)
  }

  mutating func wait() async throws {
    if appearances == nil {
      guard let server = try await context.local.registry.servers().first(where: { $0.isCalled(name) }) else {
        throw AutomationFailure.noPeer(name)
      }
      appearances = context.pull.finder.appearances(of: server).makeAsyncIterator()
    }
    isThere = try await appearances?.next() != nil
    try Task.checkCancellation()
    // The browser has ended, so the next wait starts a new one.
    if !isThere { appearances = nil }
  }
}
