import ArgumentParser
import HealthAnalysis
import HealthModel
import Terminal

struct CoverageCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "coverage",
    abstract: "Print a calendar of the days with samples, to find gaps.",
    discussion: """
      Without types: a line for each type and a column for each month. The more days have samples, the darker the mark. \
      With types: a line for each month and a column for each day. A sample counts for the day it starts on.

      Examples:
        hpeer coverage
        hpeer coverage stepCount sleepAnalysis --from 2024
        hpeer coverage heartRate --source "Casey's Apple Watch" --json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var selection: TypeArguments
  @OptionGroup var options: QuestionOptions
  @OptionGroup var output: JSONOption

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    let question = try await options.question(to: store)
    let named = try selection.types
    var types = named
    if types.isEmpty {
      types = try await store.samples.typeCounts().sorted {
        ($1.samples, $0.type.shortName) < ($0.samples, $1.type.shortName)
      }
      .map(\.type)
    }
    var found: [Coverage] = []
    for type in types {
      let coverage = try await Coverage.coverage(
        of: type, in: question.range, within: question.limits, from: question.sources, zone: question.zone,
        store: store)
      // Facts about the person, such as the date of birth, have no day.
      if named.isEmpty, coverage.implausibleTime == 0, coverage.extent == nil || coverage.extent == 0...0 { continue }
      found.append(coverage)
    }
    if output.json { return try Console.print(json: CoverageObject(found, question)) }
    defer { ImplausibleTime.say(found.reduce(0) { $0 + $1.implausibleTime }) }
    let presentation = CoveragePresentation(question: question)
    if named.isEmpty { return try presentation.print(months: found) }
    for (index, coverage) in found.enumerated() {
      if index > 0 { try Console.print("") }
      try presentation.print(days: coverage)
    }
  }
}

/// The days on which there are samples, as JSON: docs/reference/json.md.
struct CoverageObject: Encodable {
  var zone: String
  var types: [Entry]

  struct Entry: Encodable {
    var type: String
    var first: String?
    var last: String?
    var days: Int
    var of: Int
    var implausibleTime: Int?
    var gaps: [Gap]
    var months: [Month]
  }

  struct Gap: Encodable {
    var from: String
    var to: String
    var days: Int
  }

  struct Month: Encodable {
    var month: String
    var days: Int
    var samples: Int
  }

  init(_ coverages: [Coverage], _ question: Question) {
    zone = question.zone.name
    types = coverages.map { coverage in
      Entry(
        type: coverage.type.shortName, first: coverage.extent.map { CalendarDay($0.lowerBound).text },
        last: coverage.extent.map { CalendarDay($0.upperBound).text }, days: coverage.days.count,
        of: coverage.extent?.count ?? 0,
        implausibleTime: coverage.implausibleTime == 0 ? nil : coverage.implausibleTime,
        gaps: coverage.gaps.map {
          Gap(from: CalendarDay($0.lowerBound).text, to: CalendarDay($0.upperBound - 1).text, days: $0.count)
        },
        months: Dictionary(grouping: coverage.days) { CalendarDay($0.key).month }.sorted { $0.key < $1.key }.map {
          Month(month: $0.key.text, days: $0.value.count, samples: $0.value.reduce(0) { $0 + $1.value })
        })
    }
  }
}

/// A calendar of the days with samples, for people.
struct CoveragePresentation {
  let question: Question

  private static let namedGaps = 3

  private var width: Int { Console.capabilities.isTerminal(.output) ? Console.capabilities.size.columns : 80 }
  private var usesUTF8: Bool { Console.capabilities.usesUTF8 }

  // MARK: Days

  /// Prints a line for each month and a column for each day, 39 columns wide.
  func print(days coverage: Coverage) throws {
    let style = Console.outputStyle
    guard let extent = coverage.extent else {
      return Console.say("No sample of \(name(coverage)) in this range.")
    }
    try Console.print("\(style.bold(name(coverage))), \(PlainText.escaped(question.zone.name, limit: 60))")
    let marks = (1...31).map { $0 == 1 || $0 % 5 == 0 ? String($0 % 10) : " " }.joined()
    try Console.print(style.dim("        " + marks).trimmedAtEnd)
    for month in CalendarDay(extent.lowerBound).month.number...CalendarDay(extent.upperBound).month.number {
      let month = CalendarMonthNumber(number: month)
      let cells = (month.firstDay..<month.firstDay + month.length).map { day in
        extent.contains(day) ? mark(coverage.days[day] != nil ? 1 : 0) : " "
      }
      try Console.print("\(month.text) \(style.green(cells.joined()))".trimmedAtEnd)
    }
    try Console.print(phrases: Self.phrases(coverage))
  }

  private static func phrases(_ coverage: Coverage) -> [String] {
    let of = coverage.extent?.count ?? 0
    let gaps = coverage.gaps.sorted { ($1.count, $0.lowerBound) < ($0.count, $1.lowerBound) }
    let texts = gaps.prefix(namedGaps).map { gap in
      let (first, last) = (CalendarDay(gap.lowerBound).text, CalendarDay(gap.upperBound - 1).text)
      return gap.count == 1 ? first : "\(first) to \(last) (\(HumanFormat.count(gap.count, "day")))"
    }
    let rest = gaps.count > namedGaps ? ["and \(HumanFormat.count(gaps.count - namedGaps)) more"] : []
    return ["\(HumanFormat.count(coverage.days.count)) of \(HumanFormat.count(of, "day"))"]
      + (gaps.isEmpty ? ["no gap"] : ["gaps:"] + texts + rest)
  }

  // MARK: Months

  /// Prints a line for each type and a column for each month: as many of the last months as fit.
  func print(months coverages: [Coverage]) throws {
    let extents = coverages.compactMap(\.extent)
    guard let first = extents.map(\.lowerBound).min(), let last = extents.map(\.upperBound).max() else {
      return Console.say("No sample in this range.")
    }
    let style = Console.outputStyle
    let label = min(coverages.map { name($0).count }.max() ?? 0, max(12, width / 3))
    let newest = CalendarDay(last).month.number
    let room = max(1, width - label - 1)
    let oldest = max(CalendarDay(first).month.number, newest - room + 1)
    try Console.print(style.dim(String(repeating: " ", count: label + 1) + years(oldest, newest)).trimmedAtEnd)
    for coverage in coverages {
      let counts = Dictionary(grouping: coverage.days.keys) { CalendarDay($0).month.number }.mapValues(\.count)
      let cells = (oldest...newest).map { number -> String in
        guard let count = counts[number] else { return " " }
        return mark(Double(count) / Double(CalendarMonthNumber(number: number).length))
      }
      let text = DisplayWidth.padded(name(coverage), to: label)
      try Console.print("\(text) \(style.green(cells.joined()))".trimmedAtEnd)
    }
    if oldest > CalendarDay(first).month.number {
      Console.say(
        "There is more before \(CalendarMonthNumber(number: oldest).text): use --from and --to to see it.")
    }
  }

  /// Returns the heading: each year above its January if there is room, and one year in any case.
  private func years(_ first: Int, _ last: Int) -> String {
    var line = ""
    for number in first...last where number % 12 == 0 || number == first {
      let place = number - first
      let year = "\(number / 12)"
      guard line.isEmpty || (place > line.count && place + year.count <= last - first + 1) else { continue }
      line += String(repeating: " ", count: place - line.count) + year
    }
    return line
  }

  // MARK: Marks

  private func name(_ coverage: Coverage) -> String { PlainText.escaped(coverage.type.shortName, limit: 60) }

  /// Returns the mark for a share of days with samples.
  ///
  /// - Parameter share: From 0 to 1.
  private func mark(_ share: Double) -> String {
    let marks = usesUTF8 ? ["·", "░", "▒", "▓", "█"] : [".", "-", "=", "%", "#"]
    return share <= 0 ? marks[0] : marks[min(4, 1 + Int(share * 3.999))]
  }
}

extension String {
  /// The string without trailing spaces.
  var trimmedAtEnd: String { String(reversed().drop { $0 == " " }.reversed()) }
}
