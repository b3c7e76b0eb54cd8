import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import Testing

/// Tests that machines that add, delete, import and pull in any order, with all kinds of faults, end up with the same
/// record.
///
/// `HPEER_CONVERGENCE_RUNS` is the number of histories, `HPEER_CONVERGENCE_SEED` the first seed.
@Suite("Convergence") struct ConvergenceTests {
  private static func number(_ variable: String, _ fallback: UInt64) -> UInt64 {
    ProcessInfo.processInfo.environment[variable].flatMap { UInt64($0) } ?? fallback
  }

  /// Returns the seeds for a wire. Each wire has its own histories.
  private static func seeds(_ wire: Wire) -> Range<UInt64> {
    let each = number("HPEER_CONVERGENCE_RUNS", 1_000) / UInt64(Wire.all.count)
    let first = number("HPEER_CONVERGENCE_SEED", 0) + (wire.name == Wire.columns.name ? 0 : each)
    return first..<first + each
  }

  @Test("any history converges", arguments: Wire.all)
  func converges(wire: Wire) async throws {
    let trial = try Trial(wire: wire)
    guard let failing = await trial.failing(among: Self.seeds(wire)) else { return }
    Issue.record("\(await trial.report(failing))")
  }

  /// Checks that the histories need all checks.
  @Test(
    "a server that makes one check less is found out",
    arguments: [Feed.Checks(epoch: false), Feed.Checks(filter: false)])
  func checksAreNeeded(checks: Feed.Checks) async throws {
    let trial = try Trial(checks: checks)
    let failing = try #require(await trial.failing(among: 0..<500))
    #expect(await trial.shrunk(failing).steps.count < failing.steps.count)
  }

  @Test("a wire that loses tombstones is found out with a history of one step")
  func losses() async throws {
    var wire = Wire.ndjson
    wire.read = { store, query in
      var page = try await Wire.ndjson.read(store, query)
      page.bytes =
        Array(page.bytes.split(separator: 10).filter { !$0.starts(with: "{\"deleted\"".utf8) }.joined(separator: [10]))
        + [10]
      return page
    }
    let trial = try Trial(wire: wire)
    let failing = try #require(await trial.failing(among: 0..<100))
    #expect(await trial.shrunk(failing).steps.count == 1)
  }
}

extension Wire: CustomTestStringConvertible {
  var testDescription: String { name }
}
