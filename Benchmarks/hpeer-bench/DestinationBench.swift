import ArgumentParser

/// The command that benchmarks deliveries to destinations.
struct DestinationBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "destinations",
    abstract: "Measure deliveries, beside the same work by hand, and what destinations cost that have nothing to do.",
    discussion: """
      A tenth of the samples that --samples says is delivered, and a thousandth to a calendar and to FHIR, whose \
      servers take longest. Rows: \(DestinationRow.names).

      Examples:
        hpeer-bench destinations --quick
        hpeer-bench destinations --only folder
      """)

  @Option(help: "Only these rows, comma-separated.", transform: DestinationRow.list)
  var only: [DestinationRow] = DestinationRow.allCases
  @OptionGroup var options: BenchOptions

  func run() async throws { try await options.run(DestinationRow.allCases.filter(only.contains)) }
}
