import Foundation
import HostilePeer
import Testing

@Suite("A whole client against hostile servers", .timeLimit(.minutes(60))) struct ClientTrialTests {
  /// The number of concurrent trials.
  private static let atATime: UInt64 = 4

  /// Runs trials with seeds that `HPEER_SEEDS=10000 HPEER_SEED=N` changes.
  @Test("whatever a server answers, the client ends, and its store holds what it held and what was sent")
  func seeds() async throws {
    let environment = ProcessInfo.processInfo.environment
    let first = environment["HPEER_SEED"].flatMap { UInt64($0) } ?? 1
    let count = environment["HPEER_SEEDS"].flatMap { UInt64($0) } ?? 300
    let trials = try await ClientTrials()
    let taken = await withTaskGroup(of: Int.self) { group in
      var taken = 0
      for seed in first..<first + count {
        if seed >= first + Self.atATime { taken += await group.next() ?? 0 }
        group.addTask {
          do {
            return try await trials.run(Choices(seed: seed))
          } catch {
            Issue.record("HPEER_SEED=\(seed): \(error)")
            return 0
          }
        }
      }
      return await group.reduce(taken, +)
    }
    // Or nothing was looked at.
    #expect(taken > count)
  }
}
