import ArgumentParser
import HealthAnalysis
import HealthModel
import Terminal

struct Sources: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sources",
    abstract: "List the apps and devices that recorded samples, by priority.",
    discussion: """
      If several have recorded the same steps, energy or distance, a source counts only where none above it has data. \
      Manual entries come first, then watches, phones and apps; within a kind, the one whose first sample is newest. The \
      order may differ from type to type. --first puts a source before all others of a type, on this machine only, \
      and --no-first undoes that.

      Examples:
        hpeer sources
        hpeer sources stepCount
        hpeer sources stepCount --first "Casey's iPhone"
        hpeer sources stepCount --no-first
        hpeer sources --json
      """)

  @OptionGroup var common: CommonOptions
  @Argument(
    help: "A short name (stepCount) or a HealthKit identifier; without it, all types together.", completion: .types)
  var type: String?
  @Option(
    help: ArgumentHelp("Put this source of the type before all others.", valueName: "name"),
    completion: .sources)
  var first: String?
  @Flag(help: "Undo --first for this type.")
  var noFirst = false
  @OptionGroup var output: TableOutput
  @OptionGroup var zone: QuestionZoneOptions

  private struct Entry: Encodable {
    var name: String
    var kind: String
    var chosen: Bool?
    var samples: Int
    var first: Timestamp
    var last: Timestamp
  }

  private struct Answer: Encodable {
    var type: String?
    var sources: [Entry]
  }

  func validate() throws {
    _ = try type.map(SampleType.named)
    if first != nil, noFirst { throw ValidationError("Give --first or --no-first, not both.") }
    if type == nil, first != nil || noFirst { throw ValidationError("--first and --no-first need a type.") }
  }

  /// Sets or clears the first source of a type. Throws if no sample of the type has that source: a mistyped name
  /// would change nothing.
  private func decide(_ type: SampleType) async throws {
    let store = try common.homeDirectory.openStore()
    guard let first else { return try await store.settings.setFirstSource(nil, of: type) }
    let isKnown = try await store.samples.numbers { reader in
      try reader.sources(of: type).contains { $0.source.name == first }
    }
    guard isKnown else {
      throw CommandFailure(
        .usage,
        "No sample of \(PlainText.escaped(type.shortName, limit: 100)) is of a source called "
          + "\"\(PlainText.escaped(first, limit: 60))\"; `hpeer sources \(PlainText.escaped(type.shortName, limit: 100))` lists them."
      )
    }
    try await store.settings.setFirstSource(first, of: type)
  }

  func run() async throws {
    let type = try type.map(SampleType.named)
    if let type, first != nil || noFirst { try await decide(type) }
    let store = try common.homeDirectory.openStoreForReading()
    let question = try await Question(zone: zone, to: store)
    try await NumbersUpdate.run(on: store)
    let entries = try await Rollups(of: store).sources(of: type).map { summary in
      Entry(
        name: summary.source.name, kind: "\(summary.source.sourceClass)",
        chosen: summary.source.isChosen ? true : nil, samples: summary.samples, first: summary.starts.lowerBound,
        last: summary.starts.upperBound)
    }
    if output.json { return try Console.print(json: Answer(type: type?.shortName, sources: entries)) }
    if output.csv {
      var rows = CSVRows(columns: ["source", "kind", "chosen", "samples", "first", "last"])
      for entry in entries {
        rows.append([
          entry.name, entry.kind, "\(entry.chosen ?? false)", "\(entry.samples)", question.text(entry.first),
          question.text(entry.last),
        ])
      }
      return try output.spreadsheet.print(rows)
    }
    guard !entries.isEmpty else {
      Console.say(type.map { "No sample of \(PlainText.escaped($0.shortName, limit: 100))." } ?? "The store is empty.")
      return
    }
    var table = Table(columns: [
      .init("SOURCE"), .init("KIND", isWhole: true), .init("SAMPLES", .trailing), .init("FIRST", isWhole: true),
      .init("LAST", isWhole: true),
    ])
    for entry in entries {
      table.append([
        .init(entry.name), .init(entry.chosen == true ? "first by choice" : entry.kind),
        .init(HumanFormat.count(entry.samples)), .init(question.zone.date(entry.first)),
        .init(question.zone.date(entry.last)),
      ])
    }
    try Console.print(table)
  }
}
