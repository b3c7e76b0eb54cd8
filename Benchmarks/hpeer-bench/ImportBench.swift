import ArgumentParser

/// The command that benchmarks imports.
struct ImportBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Measure imports: the first, again, a later export, a large one, killed; others'.",
    discussion: """
      Rows: \(ImportRow.names).

      Examples:
        hpeer-bench import --quick
        hpeer-bench import --only first --repeats 5
        hpeer-bench import --only first,large --keep /var/tmp/bench    # makes exports once
      """)

  @Option(help: "Only these rows, comma-separated.", transform: ImportRow.list)
  var only: [ImportRow] = ImportRow.allCases
  @OptionGroup var options: BenchOptions
  @Option(help: "Other importers as wheels in this directory, so that pip need not ask the registry.")
  var wheels: String?

  func run() async throws {
    try await options.run(ImportRow.allCases.filter(only.contains), wheels: wheels)
  }
}
