import HealthAnalysis
import HealthModel
import HealthStore
import Terminal

/// The numbers of a type as a table for people.
struct StatisticsPresentation {
  private let statistics: Statistics
  private let text: StatisticsText
  private let screen: ScreenOption
  private let shown: [BucketStatistics]

  init(statistics: Statistics, zone: ZoneRules, screen: ScreenOption) {
    self.statistics = statistics
    self.screen = screen
    shown = screen.shown(of: statistics.values)
    text = StatisticsText(statistics: statistics, zone: zone)
  }

  func print() throws {
    defer { text.sayLeftOut() }
    guard !statistics.values.isEmpty else { return }
    try Console.print(text.heading)
    try Console.print(statistics.aggregation == .cumulative ? sums() : values())
    screen.sayRest(of: statistics.values.count, shown: shown.count, statistics.size.rawValue)
    if shown.contains(where: \.isPartial) {
      let size = statistics.size.rawValue
      Console.say("* is not a whole \(size): it is not over, cut by --from or --to, or the record ends in it.")
    }
  }

  private func sums() -> Table {
    var table = Table(columns: [.init(title, isWhole: true), .init("SUM", .trailing), .init("SOURCES")])
    for value in shown {
      guard case .sum(let sum) = value.number else { continue }
      table.append([
        .init(label(value)), .init(text.number(sum.sum)),
        .init(sum.sources.map { PlainText.escaped($0.name, limit: 40) }.joined(separator: ", ")),
      ])
    }
    return table
  }

  private func values() -> Table {
    var table = Table(columns: [
      .init(title, isWhole: true), .init("MEAN", .trailing), .init("MIN", .trailing), .init("MAX", .trailing),
      .init("LAST", .trailing), .init("SAMPLES", .trailing),
    ])
    for value in shown {
      guard case .discrete(let values) = value.number else { continue }
      table.append([
        .init(label(value)), .init(values.mean.map(text.number) ?? "-"), .init(text.number(values.minimum)),
        .init(text.number(values.maximum)), .init(text.number(values.last)), .init(HumanFormat.count(values.count)),
      ])
    }
    return table
  }

  private var title: String { statistics.size == .week ? "WEEK OF" : statistics.size.rawValue.uppercased() }

  private func label(_ value: BucketStatistics) -> String { text.label(value.bucket) + (value.isPartial ? " *" : "") }
}

/// A comparison of a type's daily mean in two periods, in one line for people.
struct DayComparison {
  let type: SampleType
  let question: Question
  /// Whether the line stands alone, and names the type and the periods.
  var isAnswer = false

  /// Prints the daily mean of a period, beside that of another period if there is one.
  ///
  /// - Parameter before: The period to compare with; `nil` for none.
  func print(_ now: Range<Timestamp>, before: Range<Timestamp>?, in store: HealthStore) async throws {
    let rollups = Rollups(of: store)
    var (days, times): ([[Double]], [String]) = ([], [])
    var text = NumberText(unit: nil, aggregation: .discrete)
    for time in [now, before].compactMap(\.self) {
      let query = question.statistics(of: type, by: .day, from: time.lowerBound, to: time.upperBound)
      let statistics = question.unitsForPeople.statistics(try await query.run(on: rollups))
      text = NumberText(unit: statistics.unit, aggregation: statistics.aggregation)
      days.append(statistics.dailyValues(in: question.zone).sorted { $0.key < $1.key }.map(\.value))
      times.append(Self.words(time, in: question.zone))
    }
    let comparison = PeriodComparison(days[0], before: days.count > 1 ? days[1] : [])
    guard before != nil, isAnswer else { return try closing(comparison, text, hasBefore: before != nil) }
    guard comparison.now.mean != nil || comparison.before.mean != nil else {
      return Console.say(
        "No whole day of \(PlainText.escaped(type.shortName, limit: 100)) from \(times[0]), nor from \(times[1]).")
    }
    let isSum = SampleTypeCatalogue.healthKit[type]?.aggregation == .cumulative
    func words(_ period: PeriodComparison.Period, _ values: [Double]) -> String {
      guard let mean = period.mean else { return "no whole day" }
      let sum = isSum ? ", \(text.withUnit(values.reduce(0, +))) in all" : ""
      return "\(text.withUnit(mean)) a day (\(HumanFormat.count(period.days, "whole day"))\(sum))"
    }
    try Console.print(
      phrases: [
        "\(PlainText.escaped(type.shortName, limit: 100)), \(times[0]): \(words(comparison.now, days[0]))",
        "\(times[1]): \(words(comparison.before, days[1]))", share(comparison),
      ].compactMap(\.self))
  }

  /// Prints the line below a table, which already names the type.
  private func closing(_ comparison: PeriodComparison, _ text: NumberText, hasBefore: Bool) throws {
    func words(_ period: PeriodComparison.Period) -> String {
      "\(period.mean.map(text.withUnit) ?? "-") (\(HumanFormat.count(period.days, "day")))"
    }
    let before = hasBefore ? "before: \(words(comparison.before))" : nil
    try Console.print(
      phrases: ["Mean of a whole day:", words(comparison.now), before, hasBefore ? share(comparison) : nil]
        .compactMap(\.self))
  }

  private func share(_ comparison: PeriodComparison) -> String? {
    comparison.share.map { share in
      let percent = NumberText.rounded(share * 100, digits: 1)
      return "\(percent > 0 ? "+" : "")\(HumanFormat.number(percent)) %"
    }
  }

  /// Returns the first and the last day: `2019-04-01 to 2019-04-30`.
  private static func words(_ time: Range<Timestamp>, in zone: ZoneRules) -> String {
    let first = CalendarDay(zone.dayNumber(at: time.lowerBound.seconds)).text
    let last = CalendarDay(zone.dayNumber(at: max(time.lowerBound.seconds, time.upperBound.seconds - 1))).text
    return first == last ? first : "\(first) to \(last)"
  }
}
