import ArgumentParser

/// The command that benchmarks pulls.
struct PullBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pull", abstract: "Measure pulls: bulk, incremental, memory, many clients, live, over a slow network.",
    discussion: """
      Rows: \(PullRow.names).

      Examples:
        hpeer-bench pull --quick
        hpeer-bench pull --only full --samples 300000 --repeats 5
        hpeer-bench pull --only full,delay --keep /var/tmp/bench    # prepares stores once
      """)

  @Option(help: "Only these rows, comma-separated.", transform: PullRow.list)
  var only: [PullRow] = PullRow.allCases
  @OptionGroup var options: BenchOptions
  @OptionGroup var pulls: PullOptions

  func run() async throws {
    // In their own order: what one prepares, the next uses.
    try await options.run(PullRow.allCases.filter(only.contains), pulls: pulls.values)
  }
}
