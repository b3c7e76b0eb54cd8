import ArgumentParser

/// The command that benchmarks queries.
struct LookBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "look",
    abstract: "Measure statistics: the first question, ten years of days, one day, after a change.",
    discussion: """
      The store has five times the samples that --samples says. Rows: \(LookRow.names).

      Examples:
        hpeer-bench look --quick
        hpeer-bench look --only days --keep /var/tmp/bench    # makes the store once
      """)

  @Option(help: "Only these rows, comma-separated.", transform: LookRow.list)
  var only: [LookRow] = LookRow.allCases
  @OptionGroup var options: BenchOptions

  func run() async throws {
    try await options.run(LookRow.allCases.filter(only.contains))
  }
}
