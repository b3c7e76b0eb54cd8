import ArgumentParser
import HealthModel
import HealthOperations
import HealthStore
import Terminal

struct Types: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "types",
    abstract: "List what the store holds, by type.",
    discussion: """
      Examples:
        hpeer types
        hpeer types --json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var output: TableOutput
  @OptionGroup var zone: QuestionZoneOptions

  private struct Entry: Encodable {
    var type: String
    var identifier: String
    var samples: Int
    var first: Timestamp?
    var last: Timestamp?
  }

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    var entries: [Entry] = []
    for count in try await store.samples.typeCounts() {
      let extent = try await extent(of: count.type, in: store)
      entries.append(
        Entry(
          type: count.type.shortName, identifier: count.type.rawValue, samples: count.samples,
          first: extent?.lowerBound, last: extent?.upperBound))
    }
    entries.sort { ($1.samples, $0.type) < ($0.samples, $1.type) }
    if output.json { return try Console.print(json: ["types": entries]) }
    let question = try await Question(zone: zone, to: store)
    if output.csv {
      var rows = CSVRows(columns: ["type", "identifier", "samples", "first", "last"])
      for entry in entries {
        rows.append([
          entry.type, entry.identifier, "\(entry.samples)", entry.first.map(question.text),
          entry.last.map(question.text),
        ])
      }
      return try output.spreadsheet.print(rows)
    }
    func day(_ instant: Timestamp?) -> String { instant.map(question.zone.date) ?? "-" }
    guard !entries.isEmpty else {
      Console.say("The store is empty.")
      return
    }
    var table = Table(columns: [
      .init("TYPE"), .init("SAMPLES", .trailing), .init("FIRST", isWhole: true),
      .init("LAST", isWhole: true),
    ])
    for entry in entries {
      table.append([
        .init(entry.type), .init(HumanFormat.count(entry.samples)), .init(day(entry.first)),
        .init(day(entry.last)),
      ])
    }
    try Console.print(table)
    let total = entries.reduce(0) { $0 + $1.samples }
    Console.say("\(HumanFormat.count(total, "sample")) of \(HumanFormat.count(entries.count, "type")).")
  }

  /// Returns the extent of the samples that have a time. Samples without one, such as facts about the person, lie at
  /// the first instant of 1970 in the store.
  private func extent(of type: SampleType, in store: HealthStore) async throws -> ClosedRange<Timestamp>? {
    let (extent, none) = (try await store.samples.extent(of: type), Timestamp(seconds: 0))
    guard let extent, extent.lowerBound == none || extent.upperBound == none else { return extent }
    let before = try await store.samples.extent(of: type, in: Timestamp(microseconds: .min)..<none)
    let after = try await store.samples.extent(
      of: type, in: Timestamp(microseconds: 1)..<Timestamp(microseconds: .max))
    guard let first = before ?? after, let last = after ?? before else { return nil }
    return first.lowerBound...last.upperBound
  }
}
