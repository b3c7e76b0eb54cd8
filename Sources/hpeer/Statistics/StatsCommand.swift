import ArgumentParser
import HealthAnalysis
import HealthModel
import HealthOperations
import HealthStore
import Terminal

struct Stats: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Print sums, means and extremes by hour, day, week, month or year.",
    discussion: """
      Steps, energy and distances are added up as the Health app does it: where a watch and a phone have recorded the same \
      time, only the watch counts there. Heart rates and other values have a mean, an extreme and the last one. A bucket \
      without samples is left out, since it is not zero; one marked with * is not over, or cut off by --from or --to. \
      docs/reference/statistics.md says what each number means.

      Examples:
        hpeer stats steps this month
        hpeer stats steps this month vs last month
        hpeer stats steps by month last year
        hpeer stats stepCount --from 2024-06-01 --to 2024-06-30
        hpeer stats heartRate restingHeartRate --by week --from 2024-01-01
        hpeer stats distanceWalkingRunning --by year
        hpeer stats stepCount heartRate --from 2024-06 --csv > june.csv
        hpeer stats bodyMass distanceCycling --by month --units lb,mi
        hpeer stats stepCount --from 7d --zone travel
        hpeer stats stepCount --by hour --on 2024-06-15 --zone Europe/Berlin --json
        hpeer stats bodyMass --from 2024-01 --to 2024-06 --fill null --csv
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var selection: TypeArguments
  @Option(help: "Print a number for each hour, day, week, month or year.")
  var by = BucketSize.day
  @Option(
    help: ArgumentHelp(
      "Print only the daily mean, compared with that of another period, such as \"last month\".", valueName: "date"))
  var versus: PeriodArgument?
  @OptionGroup var options: QuestionOptions
  @OptionGroup var strictness: StrictOption
  @Option(help: "The first day of the week: monday or sunday. Default: monday; on a terminal, the locale's.")
  var weekStart: WeekStart?
  @Option(help: "With --json or --csv: also print buckets without samples, with null (JSON) or an empty field (CSV).")
  var fill: GapFilling?
  @Flag(help: "Print one JSON object for each type on standard output instead of text.")
  var json = false
  @Flag(help: "Print one table as CSV (RFC 4180), nothing rounded, a row for each bucket of each type.")
  var csv = false
  @OptionGroup var spreadsheet: SpreadsheetOption
  @OptionGroup var screen: ScreenOption

  func validate() throws {
    try selection.requireOne()
    if json, csv { throw ValidationError("Give --json or --csv, not both.") }
    if spreadsheet.locale != nil, !csv { throw ValidationError("--locale goes with --csv.") }
    if fill != nil, !json, !csv { throw ValidationError("--fill is for --json and --csv.") }
    if versus != nil, json || csv { throw ValidationError("--versus prints one line, neither --json nor --csv.") }
  }

  private var weekStartsOnSunday: Bool {
    if let weekStart { return weekStart == .sunday }
    let isForPeople = Console.capabilities.isTerminal(.output) && !json && !csv
    return isForPeople && TimeLocale.current.weekStartsOnSunday
  }

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    var question = try await options.question(to: store)
    question.readings = strictness.readings
    try await NumbersUpdate.run(on: store)
    let (zone, rollups) = (question.zone, Rollups(of: store))
    if csv { try spreadsheet.print(StatisticsTable.header) }
    for (index, type) in try selection.types.enumerated() {
      if let versus {
        try await compare(type, versus, store, question)
        continue
      }
      let query = question.statistics(
        of: type, by: by, from: question.start, to: question.end, weekStartsOnSunday: weekStartsOnSunday)
      let units = json || csv ? question.units : question.unitsForPeople
      let statistics = units.statistics(try await query.run(on: rollups))
      let entries = try query.entries(of: statistics, filling: fill != nil)
      if json {
        try Console.print(json: StatisticsObject(statistics, entries, zone))
        continue
      }
      if csv {
        var rows: [UInt8] = []
        StatisticsTable.append(
          statistics, entries, zone, text: { PlainText.escaped($0, limit: 1_000) }, to: &rows)
        try spreadsheet.print(rows)
        StatisticsText(statistics: statistics, zone: zone).sayLeftOut()
        continue
      }
      if index > 0 { try Console.print("") }
      try StatisticsPresentation(statistics: statistics, zone: zone, screen: screen).print()
      if statistics.values.isEmpty {
        try await question.sayNewest(of: [type] + AppReadings.types(of: type), in: store)
      }
      try await sayMean(of: statistics, store, question)
    }
  }

  /// Prints the daily mean below a table of buckets, on a terminal.
  private func sayMean(of statistics: Statistics, _ store: HealthStore, _ question: Question) async throws {
    guard Console.capabilities.isTerminal(.output), let start = question.start,
      statistics.values.contains(where: { !$0.isPartial })
    else { return }
    let end = min(question.end ?? question.now, question.now)
    guard start < end else { return }
    try await DayComparison(type: statistics.type, question: question).print(start..<end, before: nil, in: store)
  }

  private func compare(
    _ type: SampleType, _ versus: PeriodArgument, _ store: HealthStore, _ question: Question
  ) async throws {
    let other = try question.range(of: versus)
    let start = question.start ?? other.upperBound
    let end = question.end ?? question.now
    guard start < end else {
      throw ValidationError("Name the two periods to compare, such as `this month vs last month`.")
    }
    if try selection.types.count > 1 { try Console.print(PlainText.escaped(type.shortName, limit: 100)) }
    try await DayComparison(type: type, question: question, isAnswer: true)
      .print(start..<end, before: other, in: store)
  }
}

extension BucketSize: ExpressibleByArgument {}

/// The value of `--week-start`.
enum WeekStart: String, ExpressibleByArgument, CaseIterable {
  case monday, sunday
}

/// The value of `--fill`, which stands for a bucket without samples.
enum GapFilling: String, ExpressibleByArgument, CaseIterable {
  case null
}
