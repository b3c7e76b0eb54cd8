import ArgumentParser

/// The default command, which runs all benchmarks.
struct WholeBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "all", abstract: "Measure pulls, then imports, exports, looks, phones and deliveries.",
    discussion: "Rows: \(names).")

  @Option(help: "Only these rows, comma-separated.", transform: Self.list)
  var only: [String] = Self.rows.map { $0.rawValue }
  @OptionGroup var options: BenchOptions
  @OptionGroup var pulls: PullOptions
  @Option(help: "Other importers as wheels in this directory, so that pip need not ask the registry.")
  var wheels: String?

  func run() async throws {
    try await options.run(Self.rows.filter { only.contains($0.rawValue) }, pulls: pulls.values, wheels: wheels)
  }

  private static let rows: [any BenchRow] =
    PullRow.allCases + ImportRow.allCases + ExportRow.allCases + LookRow.allCases + PhoneRow.allCases
    + DestinationRow.allCases

  private static var names: String { rows.map { $0.rawValue }.joined(separator: ", ") }

  @Sendable private static func list(_ text: String) throws -> [String] {
    try text.split(separator: ",").map { name in
      guard rows.contains(where: { $0.rawValue == String(name) }) else {
        throw ValidationError("There is no row \(name): \(names).")
      }
      return String(name)
    }
  }
}
