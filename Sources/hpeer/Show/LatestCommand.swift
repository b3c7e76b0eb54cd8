import ArgumentParser
import HealthModel
import HealthStore
import Terminal

struct Latest: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "latest",
    abstract: "Print the newest sample of each type.",
    discussion: """
      Without a type: the newest sample of every type in the store, newest first, with its age.

      Examples:
        hpeer latest
        hpeer latest heartRate bodyMass bloodPressure
        hpeer latest bodyMass --to 2024-06-30 --units lb
        hpeer latest --types restingHeartRate,vo2Max --csv
        hpeer latest bodyMass --json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var selection: TypeArguments
  @OptionGroup var options: QuestionOptions
  @Flag(help: "Print each sample as a JSON object on a line of its own, in its own unit.")
  var json = false
  @Flag(help: "Print one table as CSV (RFC 4180).")
  var csv = false
  @OptionGroup var spreadsheet: SpreadsheetOption

  func validate() throws {
    if spreadsheet.locale != nil, !csv { throw ValidationError("--locale goes with --csv.") }
    if json, csv { throw ValidationError("Give --json or --csv, not both.") }
  }

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    let question = try await options.question(to: store)
    var rows = CSVRows(columns: ["type", "value", "start", "end", "source"])
    var table = Table(columns: [.init("TYPE"), .init("VALUE"), .init("WHEN", isWhole: true), .init("SOURCE")])
    for (type, sample) in try await newest(in: store, question) {
      if json {
        try Console.print(json: sample)
        continue
      }
      let value = SampleText(units: csv ? question.units : question.unitsForPeople, isExact: csv).of(
        sample, members: try await store.members(of: sample))
      if csv {
        rows.append([
          type.shortName, value, question.text(sample.start), question.text(sample.end), sample.source.name,
        ])
        continue
      }
      let isTerminal = Console.capabilities.isTerminal(.output)
      var when = question.seconds(sample.start)
      // On a terminal the offset is left out, because the age is shown instead.
      if isTerminal { when = String(when.prefix(16)).replacing("T", with: " ") }
      if try selection.types.isEmpty || isTerminal {
        when += ", \(Self.age(of: sample))"
      }
      // Facts about the person have no time.
      if case .characteristic = sample.payload { when = "-" }
      table.append([
        .init(type.shortName), .init(value), .init(when), .init(sample.source.name),
      ])
    }
    if csv { return try spreadsheet.print(rows) }
    if !table.isEmpty { try Console.print(table) }
  }

  /// Returns the newest sample of each type: in the order in which types were named, else the newest first.
  private func newest(in store: HealthStore, _ question: Question) async throws -> [(SampleType, Sample)] {
    let named = try selection.types
    let types = named.isEmpty ? try await store.samples.typeCounts().map(\.type) : named
    var samples: [(SampleType, Sample)] = []
    for type in types {
      var page: [Sample] = []
      // If there is no sample, a reading that an app has sent is used.
      for type in [type] + AppReadings.types(of: type) where page.isEmpty {
        page = try await store.samples.page(of: type, in: question.limits, from: question.sources, limit: 1)
        // What is dated a year ahead is the newest only if there is nothing else.
        if page.isEmpty {
          page = try await store.samples.page(of: type, in: question.range, from: question.sources, limit: 1)
        }
      }
      if let sample = page.first {
        samples.append((type, sample))
      } else if !named.isEmpty {
        Console.say("No sample of \(PlainText.escaped(type.shortName, limit: 100)).")
      }
    }
    if named.isEmpty {
      samples.sort { $0.1.start > $1.1.start }
      if samples.isEmpty { Console.say("The store has no sample of that.") }
    }
    return samples
  }

  /// Returns the age of a sample in one unit, such as `3 h ago`.
  private static func age(of sample: Sample) -> String {
    let (seconds, isTooLong) = Timestamp.now.seconds.subtractingReportingOverflow(sample.start.seconds)
    if isTooLong { return "long ago" }
    let day: Int64 = 86_400
    func text(_ length: Int64, _ unit: String) -> String { "\(HumanFormat.count(Int(seconds / length), unit)) ago" }
    return switch seconds {
    case ..<0: "still to come"
    case ..<60: "just now"
    case ..<3_600: "\(seconds / 60) min ago"
    case ..<(2 * day): "\(seconds / 3_600) h ago"
    case ..<(60 * day): text(day, "day")
    case ..<(730 * day): text(30 * day, "month")
    default: text(365 * day, "year")
    }
  }
}
