import ArgumentParser

/// Everything about reading Apple's export.
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

/// All there is.
struct WholeBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "all", abstract: "Measure pulls, then imports, then exports.",
    discussion: "Rows: \(PullRow.names), \(ImportRow.names), \(ExportRow.names).")

  @Option(help: "Only these rows, comma-separated.", transform: Self.list)
  var only: [String] = everything.map { $0.rawValue }
  @OptionGroup var options: BenchOptions
  @OptionGroup var pulls: PullOptions
  @Option(help: "Other importers as wheels in this directory, so that pip need not ask the registry.")
  var wheels: String?

  func run() async throws {
    try await options.run(Self.everything.filter { only.contains($0.rawValue) }, pulls: pulls.values, wheels: wheels)
  }

  private static let everything: [any BenchRow] = PullRow.allCases + ImportRow.allCases + ExportRow.allCases

  @Sendable private static func list(_ text: String) throws -> [String] {
    try text.split(separator: ",").map { name in
      guard everything.contains(where: { $0.rawValue == name }) else {
        throw ValidationError("There is no row \(name): \(PullRow.names), \(ImportRow.names), \(ExportRow.names).")
      }
      return String(name)
    }
  }
}
