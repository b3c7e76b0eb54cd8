import ArgumentParser
import BenchData
import Foundation

/// Everything about bringing one store up to date with another.
struct PullBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pull", abstract: "Measure pulls: bulk, incremental, memory, many clients, live, over a slow network.",
    discussion: """
      Rows: \(PullRow.allCases.map(\.rawValue).joined(separator: ", ")).

      Examples:
        hpeer-bench pull --quick
        hpeer-bench pull --only full --samples 300000 --repeats 5
        hpeer-bench pull --only full,delay --keep /var/tmp/bench    # prepares stores once
      """)

  @Option(help: "Only these rows, comma-separated.", transform: PullRow.list)
  var only: [PullRow] = PullRow.allCases
  @Flag(help: "Few samples and no repeats, within a minute: to see that everything works.")
  var quick = false
  @Option(help: "Samples of a full pull; the large store has five times as many.")
  var samples: Int?
  @Option(help: "How often each row is measured after its warm-up; of these it is the median.")
  var repeats: Int?
  @Option(help: "Another person's data.")
  var seed: UInt64 = 1
  @Option(help: "UUIDs of the samples: random or derived (from the content, as an import's).")
  var identity = HealthHistory.Identity.random
  @Option(help: "The share of the years that came by import, in blocks by type; the rest came live, mixed by time.")
  var imported = 0.9
  @Option(help: "The program to measure; by default the hpeer beside this one.")
  var hpeer: String?
  @Option(help: "Keep stores in this directory and use them the next time. Without it nothing is left.")
  var keep: String?
  @Flag(help: "Print one JSON object on standard output instead of a table.")
  var json = false

  func validate() throws {
    guard (samples ?? 1000) >= 1000 else { throw ValidationError("--samples takes 1000 or more.") }
    guard (0...1).contains(imported) else { throw ValidationError("--imported takes a number from 0 to 1.") }
    guard (repeats ?? 1) >= 1 else { throw ValidationError("--repeats takes 1 or more.") }
  }

  func run() async throws {
    let sizes = Sizes(samples: samples, repeats: repeats, quick: quick)
    let program =
      hpeer
      ?? URL(fileURLWithPath: ProcessInfo.processInfo.arguments[0]).deletingLastPathComponent()
      .appendingPathComponent("hpeer").path
    let workspace = try Workspace(keep: keep)
    let ending = Ending(workspace)
    defer { ending.clean() }
    let bench = Bench(
      sizes: sizes, seed: seed, identity: identity, imported: imported, program: try Program(path: program),
      workspace: workspace)
    var report = Report(bench)
    // In their own order: what one prepares, the next uses.
    for row in PullRow.allCases where only.contains(row) {
      Log.say("\(row.rawValue): \(row.title)")
      report.rows.append(try await row.measure(bench))
    }
    try report.print(json: json)
  }
}

extension HealthHistory.Identity: ExpressibleByArgument {}
