import Foundation
import HostilePeer
import Testing

@Suite("A whole client against hostile servers", .timeLimit(.minutes(60))) struct ClientTrialTests {
  /// `HPEER_SEEDS=10000 HPEER_SEED=N` runs others.
  @Test("whatever a server answers, the client ends, and its store holds what it held and what was sent")
  func seeds() async throws {
    let environment = ProcessInfo.processInfo.environment
    let first = environment["HPEER_SEED"].flatMap { UInt64($0) } ?? 1
    let count = environment["HPEER_SEEDS"].flatMap { UInt64($0) } ?? 300
    let trials = try await ClientTrials()
    var (failures, taken) = (0, 0)
    for seed in first..<first + count {
      do {
        taken += try await trials.run(Choices(seed: seed))
      } catch {
        Issue.record("HPEER_SEED=\(seed): \(error)")
        failures += 1
        if failures == 10 { return }
      }
    }
    // Or nothing was looked at.
    #expect(taken > count)
  }
}
