import ArgumentParser
import HealthAnalysis
import HealthModel
import HealthStore
import Terminal

struct Chart: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chart",
    abstract: "Draw the numbers of a type, or nights, in the terminal.",
    discussion: """
      What is added up has bars; what has a mean has a band from the lowest to the highest with a dot at the mean; a night \
      is a bar from going to bed to getting up. A line without anything is a time of which there are no samples. Where there \
      would be more than a hundred lines, each number is a dot. The numbers are those of `hpeer stats` and `hpeer sleep`.

      Without --from and --to the last ones are drawn: 24 hours, 30 days, 26 weeks, 24 months, or all years. With --compare \
      previous a line across each bar is where the time before was, and what both have in the mean of a day is said below.

      Examples:
        hpeer chart stepCount
        hpeer chart stepCount --from 7d --compare previous
        hpeer chart heartRate --by hour --on 2024-06-15
        hpeer chart bodyMass --from 2y --units lb
        hpeer chart sleep --from 14d
      """)

  enum Comparison: String, ExpressibleByArgument, CaseIterable {
    case previous
  }

  @OptionGroup var common: CommonOptions
  @OptionGroup var selection: TypeArguments
  @Option(help: "The length of time on each line: hour, day, week, month or year.")
  var by = BucketSize.day
  @Option(help: "Also show the preceding period of the same length.")
  var compare: Comparison?
  @OptionGroup var options: QuestionOptions
  @OptionGroup var strictness: StrictOption

  private var isSleep: Bool { (try? selection.types) == [SleepQuery.type] }

  func validate() throws {
    if isSleep {
      guard by == .day, compare == nil else { throw ValidationError("Nights are drawn by day, and not compared.") }
      return
    }
    try selection.requireOne()
    guard try selection.types.count == 1 else { throw ValidationError("Name one type, such as stepCount.") }
  }

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    var question = try await options.question(to: store)
    question.readings = strictness.readings
    if isSleep { return try await nights(store, question) }
    try await NumbersUpdate.run(on: store)
    for type in try selection.types { try await numbers(of: type, store, question) }
  }

  private func numbers(of type: SampleType, _ store: HealthStore, _ question: Question) async throws {
    var query = question.statistics(of: type, by: by, from: question.start, to: question.end)
    if query.start == nil, query.end == nil, let count,
      let last = try await last(of: type, store, question)
    {
      query.start = try CalendarBuckets.start(ofLast: count, by, in: question.zone, to: last)
    }
    let statistics = question.unitsForPeople.statistics(try await query.run(on: store))
    var chart = StatisticsChart(statistics: statistics, zone: question.zone)
    guard compare == .previous, let first = statistics.values.first, let last = statistics.values.last else {
      return try chart.print()
    }
    let (start, end) = (query.start ?? first.bucket.start, query.end ?? last.bucket.end)
    let buckets = try CalendarBuckets(by, in: question.zone, start..<end, cutsStart: false, cutsEnd: false)
    let earlier = try CalendarBuckets.start(
      ofLast: buckets.count, by, in: question.zone, to: Timestamp(microseconds: buckets[0].start.microseconds - 1))
    query.start = earlier
    query.end = buckets[0].start
    chart.before = question.unitsForPeople.statistics(try await query.run(on: store))
    try chart.print()
    try await DayComparison(type: type, question: question)
      .print(start..<end, before: earlier..<buckets[0].start, in: store)
  }

  /// Returns the end of the newest sample, or of the newest reading of an app.
  private func last(of type: SampleType, _ store: HealthStore, _ question: Question) async throws -> Timestamp? {
    var last: Timestamp?
    for type in [type] + (question.readings == .none ? [] : AppReadings.types(of: type)) {
      guard let end = try await store.samples.extent(of: type, in: question.limits)?.upperBound else { continue }
      last = max(last ?? end, end)
    }
    return last
  }

  private func nights(_ store: HealthStore, _ question: Question) async throws {
    var query = SleepQuery(in: question.zone)
    query.hasReadings = question.readings != .none
    (query.firstDay, query.lastDay) = question.days
    query.sources = question.sources
    if question.start == nil, question.end == nil, question.sources == nil, let count,
      let last = try await last(of: SleepQuery.type, store, question)
    {
      // A night has the date of its end.
      query.firstDay = question.zone.dayNumber(at: last.seconds) - count
    }
    var nights = try await query.run(on: store)
    if nights.isEmpty, query.firstDay != question.days.first {
      query.firstDay = nil
      nights = try await query.run(on: store)
    }
    if question.start == nil, question.end == nil, let last = nights.last, let count {
      nights.removeAll { $0.day <= last.day - count }
    }
    try NightChart(nights: nights, zone: question.zone).print()
  }

  /// The number of buckets that are drawn if no time was given; `nil` for all.
  private var count: Int? {
    switch by {
    case .hour: 24
    case .day: 30
    case .week: 26
    case .month: 24
    case .year: nil
    }
  }
}
