import ArgumentParser
import HealthModel
import HealthOperations
import HealthStore
import Terminal

struct Show: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show",
    abstract: "Print samples of a type, newest first.",
    discussion: """
      Times are in your home zone, with their UTC offset; --zone and --utc choose another. With --json each sample is one JSON \
      object on a line of its own, with times in UTC.

      Examples:
        hpeer show heartRate
        hpeer show workout --from 2024-01-01 --to 2024-12-31 --limit 100
        hpeer show stepCount --from 2024-06-15T10:00 --zone Europe/Berlin
        hpeer show bodyMass --units lb --source Scale
        hpeer show stepCount --json --limit 0
        hpeer show stepCount --limit 0 --csv > steps.csv
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var selection: TypeArguments
  @OptionGroup var options: QuestionOptions
  @Option(help: "The maximum number of samples of each type; 0 for all. Default: 20, and all with --csv.")
  var limit: Int?
  @Flag(help: "Print each sample as a JSON object on a line of its own, in its own unit.")
  var json = false
  @Flag(help: "Print one table as CSV (RFC 4180), each sample in its own unit.")
  var csv = false
  @OptionGroup var spreadsheet: SpreadsheetOption

  func validate() throws {
    try selection.requireOne()
    if spreadsheet.locale != nil, !csv { throw ValidationError("--locale goes with --csv.") }
    if json, csv { throw ValidationError("Give --json or --csv, not both.") }
    if limit ?? 0 < 0 { throw ValidationError("--limit takes a number from 0.") }
  }

  private static let pageSize = 1000

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    let question = try await options.question(to: store)
    if csv { try spreadsheet.print(CSVRows(columns: try columns())) }
    for (index, type) in try selection.types.enumerated() {
      // Programs that read lines get samples without headings.
      if !json, !csv, Console.capabilities.isTerminal(.output) {
        if index > 0 { try Console.print("") }
        try Console.print("\(PlainText.escaped(type.shortName, limit: 100)), newest first, \(question.zone.name)")
      }
      try await print(type, from: store, question)
    }
  }

  /// The blood pressure type. Its two values have columns of their own if no other type is asked for.
  private static let pressure = SampleType("HKCorrelationTypeIdentifierBloodPressure")

  private func columns() throws -> [String] {
    let pressures = try selection.types == [Self.pressure] ? ["systolic", "diastolic"] : []
    return ["type", "start", "end", "value", "unit", "text", "source"] + pressures
  }

  private func row(_ sample: Sample, members: [Sample], _ question: Question) throws -> [String?] {
    var (value, unit): (String?, String?) = (nil, nil)
    switch sample.payload {
    case .quantity(let quantity): (value, unit) = ("\(quantity.value)", quantity.unit)
    case .category(let category): value = category.value.map { "\($0)" }
    default: break
    }
    return [
      sample.type.shortName, question.text(sample.start), question.text(sample.end), value, unit,
      value != nil && unit != nil ? nil : SampleText(isExact: true).of(sample, members: members), sample.source.name,
    ] + (try selection.types == [Self.pressure] ? pressures(members) : [])
  }

  private func pressures(_ members: [Sample]) -> [String?] {
    ["Systolic", "Diastolic"].map { name in
      let member = members.first { $0.type.rawValue == "HKQuantityTypeIdentifierBloodPressure" + name }
      guard case .quantity(let quantity)? = member?.payload else { return nil }
      return "\(quantity.value)"
    }
  }

  private func print(_ type: SampleType, from store: HealthStore, _ question: Question) async throws {
    let limit = limit ?? (csv ? 0 : 20)
    let wanted = limit == 0 ? Int.max : limit
    var offset = 0
    while offset < wanted {
      let page = try await store.samples.page(
        of: type, in: question.range, from: question.sources, offset: offset,
        limit: min(Self.pageSize, wanted - offset))
      for sample in page { try await print(sample, from: store, question) }
      offset += page.count
      if page.count < Self.pageSize { break }
    }
    if !json, !csv, offset == wanted, Console.capabilities.isTerminal(.output) {
      let all = try await store.samples.count(of: type, in: question.range, from: question.sources)
      if all > offset {
        Console.say("… \(HumanFormat.count(all - offset, "earlier sample")); --limit 0 prints them.")
      }
    }
    if offset == 0 {
      Console.say("No sample of \(PlainText.escaped(type.shortName, limit: 100)) in this range.")
      try await question.sayNewest(of: [type], in: store)
    }
  }

  private func print(_ sample: Sample, from store: HealthStore, _ question: Question) async throws {
    if json { return try Console.print(json: sample) }
    let members = try await store.members(of: sample)
    if csv {
      var rows = CSVRows()
      rows.append(try row(sample, members: members, question))
      return try spreadsheet.print(rows)
    }
    // Facts about the person have no time.
    let isTerminal = Console.capabilities.isTerminal(.output)
    var times = [sample.start, sample.end].map(question.text)
    if case .characteristic = sample.payload { times = ["-", "-"] }
    if isTerminal, times[0] == times[1] { times.removeLast() }
    let words =
      times + [
        SampleText(units: question.unitsForPeople, isExact: !isTerminal).of(sample, members: members),
        PlainText.escaped(sample.source.name),
      ]
    try Console.print(words.joined(separator: "  "))
  }
}
