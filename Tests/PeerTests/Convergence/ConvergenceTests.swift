import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import Testing

/// Machines that add, delete, import and pull in any order, with whatever may go wrong, end up with the same record.
///
/// `HPEER_CONVERGENCE_RUNS` says how many histories, `HPEER_CONVERGENCE_SEED` with which they begin.
@Suite("Convergence") struct ConvergenceTests {
  private static func number(_ variable: String, _ fallback: UInt64) -> UInt64 {
    ProcessInfo.processInfo.environment[variable].flatMap { UInt64($0) } ?? fallback
  }

  private static let seeds: Range<UInt64> = {
    let first = number("HPEER_CONVERGENCE_SEED", 0)
    return first..<first + number("HPEER_CONVERGENCE_RUNS", 1_000)
  }()

  /// Without what each check of a server is for, some history fails: they are such that all of them are needed.
  @Test(
    "a server that makes one check less is found out",
    arguments: [Feed.Checks(epoch: false), Feed.Checks(filter: false)])
  func checksAreNeeded(checks: Feed.Checks) async throws {
    #expect(await try Trial(checks: checks).firstFailure(of: 0..<500) != nil)
  }

  @Test("any history converges", arguments: Wire.all)
  func converges(wire: Wire) async throws {
    if let failure = await try Trial(wire: wire).firstFailure(of: Self.seeds) { Issue.record("\(failure)") }
  }
}

extension Wire: CustomTestStringConvertible {
  var testDescription: String { name }
}
