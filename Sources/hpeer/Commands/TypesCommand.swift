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
      return try Console.print(rows)
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

  /// Of what has a time: what is true of the person has none, and lies at 1970 in the store.
  private func extent(of type: SampleType, in store: HealthStore) async throws -> ClosedRange<Timestamp>? {
    let extent = try await store.samples.extent(of: type)
    guard extent?.upperBound == Timestamp(seconds: 0) else { return extent }
    if case .characteristic? = try await store.samples.page(of: type, limit: 1).first?.payload { return nil }
    return extent
  }
}
