import ArgumentParser

/// The command that benchmarks exports.
struct ExportBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Measure exports in every format.",
    discussion: """
      Rows: \(ExportRow.names).

      Examples:
        hpeer-bench export --quick
        hpeer-bench export --repeats 5 --keep /var/tmp/bench    # makes the export to import once
      """)

  @Option(help: "Only these rows, comma-separated.", transform: ExportRow.list)
  var only: [ExportRow] = ExportRow.allCases
  @OptionGroup var options: BenchOptions

  func run() async throws { try await options.run(ExportRow.allCases.filter(only.contains)) }
}
