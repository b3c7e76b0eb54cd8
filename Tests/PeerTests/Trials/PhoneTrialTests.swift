import Foundation
import HostilePeer
import Testing

@Suite("Pulling from hostile apps on phones", .timeLimit(.minutes(60))) struct PhoneTrialTests {
  /// Runs trials with seeds that `HPEER_SEEDS=10000 HPEER_SEED=N` changes.
  @Test("whatever an app answers, the pull ends, and the store holds what it held")
  func seeds() async throws {
    let environment = ProcessInfo.processInfo.environment
    let first = environment["HPEER_SEED"].flatMap { UInt64($0) } ?? 1
    let count = environment["HPEER_SEEDS"].flatMap { UInt64($0) } ?? 40
    let trials = try await PhoneTrials()
    var taken = 0
    for seed in first..<first + count {
      do {
        taken += try await trials.run(Choices(seed: seed))
      } catch {
        Issue.record("HPEER_SEED=\(seed): \(error)")
      }
    }
    // Or nothing was looked at.
    #expect(taken > count)
  }
}
