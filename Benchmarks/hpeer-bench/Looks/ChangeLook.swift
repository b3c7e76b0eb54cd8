import Foundation
import HealthModel
import HealthStore

/// A benchmark of a new sample and a query whose result it changes.
struct ChangeLook {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  func measure() async throws -> Row {
    let home = try await LookedAtHome(bench)
    defer { bench.workspace.remove(home.path) }
    guard let last = try await home.store.samples.extent(of: LookedAtHome.heartRate)?.upperBound else {
      throw BenchFailure("The made-up record has no heart rates.")
    }
    var (kept, program): ([Double], [Double]) = ([], [])
    for round in 0..<bench.sizes.shortRepeats {
      try await add(Timestamp(seconds: last.seconds - Int64(round)), to: home.store)
      kept.append(
        try await milliseconds { _ = try await home.rollups.statistics(home.days(of: LookedAtHome.heartRate)) })
      try await add(Timestamp(seconds: last.seconds - 1000 - Int64(round)), to: home.store)
      program.append(
        try await bench.program.run(
          ["stats", LookedAtHome.name, "--from", "7d", "--csv"], home: home.path, in: bench.workspace
        ).seconds * 1000)
    }
    var row = Row(.change)
    row.add("days of all years after a change", medianOf: kept, .milliseconds, goal: .atMost(100))
    row.add("hpeer stats --from 7d after a change", medianOf: program, .milliseconds, goal: .atMost(100))
    return row
  }

  private func add(_ start: Timestamp, to store: HealthStore) async throws {
    let sample = Sample(
      uuid: UUID(), type: LookedAtHome.heartRate, start: start, end: start, source: Source(name: "Watch"),
      payload: .quantity(Quantity(61, "count/min")))
    try await store.apply(ChangeBatch(additions: [sample]))
  }
}
