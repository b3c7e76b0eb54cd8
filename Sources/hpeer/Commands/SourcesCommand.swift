import ArgumentParser
import HealthAnalysis
import HealthModel
import Terminal

struct Sources: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sources",
    abstract: "List the apps and devices that recorded samples, in the order in which they count.",
    discussion: """
      Where several have recorded the same steps, energy or distance, each counts only where none above it has data. What \
      somebody typed in comes first, then watches, phones and apps; in each kind the one whose first sample is newest. The \
      order may be another for another type.

      Examples:
        hpeer sources
        hpeer sources stepCount
        hpeer sources --json
      """)

  @OptionGroup var common: CommonOptions
  @Argument(help: "A short name (stepCount) or a HealthKit identifier; without it, all types together.")
  var type: String?
  @OptionGroup var output: JSONOption
  @OptionGroup var zone: ZoneOptions

  private struct Entry: Encodable {
    var name: String
    var kind: String
    var samples: Int
    var first: Timestamp
    var last: Timestamp
  }

  private struct Answer: Encodable {
    var type: String?
    var sources: [Entry]
  }

  func validate() throws { _ = try type.map(SampleType.named) }

  func run() async throws {
    let type = try type.map(SampleType.named)
    let store = try common.homeDirectory.openStoreForReading()
    let entries = try await SourceSurvey.sources(of: type, in: store).map { summary in
      Entry(
        name: summary.source.name, kind: "\(summary.source.sourceClass)", samples: summary.samples,
        first: summary.starts.lowerBound, last: summary.starts.upperBound)
    }
    if output.json { return try Console.print(json: Answer(type: type?.shortName, sources: entries)) }
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
        .init(entry.name), .init(entry.kind), .init(HumanFormat.count(entry.samples)), .init(zone.date(entry.first)),
        .init(zone.date(entry.last)),
      ])
    }
    try Console.print(table)
  }
}
