import ArgumentParser
import BenchData
import Foundation

/// The options of all benchmarks.
struct BenchOptions: ParsableArguments {
  @Flag(help: "Few samples and no repeats, within a minute: to see that everything works.")
  var quick = false
  @Option(
    help: "Samples of a full pull, records of an export; the large store has five times as many, the large export ten.")
  var samples: Int?
  @Option(help: "How often each row is measured after its warm-up; of these it is the median.")
  var repeats: Int?
  @Option(help: "Another person's data.")
  var seed: UInt64 = 1
  @Option(help: "The program to measure; by default the hpeer beside this one.")
  var hpeer: String?
  @Option(help: "Keep stores and exports in this directory and use them the next time. Without it nothing is left.")
  var keep: String?
  @Flag(help: "Print one JSON object on standard output instead of a table.")
  var json = false

  func validate() throws {
    guard (samples ?? 1000) >= 1000 else { throw ValidationError("--samples takes 1000 or more.") }
    guard (repeats ?? 1) >= 1 else { throw ValidationError("--repeats takes 1 or more.") }
  }

  /// Runs the benchmarks and prints the report.
  func run(_ rows: [any BenchRow], pulls: PullOptions.Values = .init(), wheels: String? = nil) async throws {
    let program =
      hpeer
      ?? URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent("hpeer").path
    let workspace = try Workspace(keep: keep)
    let ending = Ending(workspace)
    defer { ending.clean() }
    let bench = Bench(
      sizes: Sizes(samples: samples, repeats: repeats, quick: quick), seed: seed, identity: pulls.identity,
      imported: pulls.imported, program: try Program(path: program), workspace: workspace, wheels: wheels)
    var report = Report(bench)
    for row in rows {
      Log.say("\(row.rawValue): \(row.title)")
      report.rows.append(try await row.measure(bench))
    }
    try report.print(json: json)
  }
}

/// The options for the samples that pulls are measured with.
struct PullOptions: ParsableArguments {
  @Option(help: "UUIDs of the samples: random or derived (from the content, as an import's).")
  var identity = HealthHistory.Identity.random
  @Option(help: "The share of the years that came by import, in blocks by type; the rest came live, mixed by time.")
  var imported = 0.9

  func validate() throws {
    guard (0...1).contains(imported) else { throw ValidationError("--imported takes a number from 0 to 1.") }
  }

  /// The values of the options, also usable without parsing. An option group that wasn't parsed has no values.
  struct Values: Sendable {
    var identity = HealthHistory.Identity.random
    var imported = 0.9
  }

  var values: Values { Values(identity: identity, imported: imported) }
}

extension HealthHistory.Identity: ExpressibleByArgument {}
