import HealthAnalysis
import HealthModel
import HealthStore
import Terminal

/// The mean of a day of a type in two times, in one line for people.
struct DayComparison {
  let type: SampleType
  let question: Question

  /// Prints the mean of the days of a time, beside that of another where it has any.
  ///
  /// - Parameter before: the days compared with; `nil` for none.
  func print(_ now: Range<Timestamp>, before: Range<Timestamp>?, in store: HealthStore) async throws {
    let rollups = Rollups(of: store)
    var days: [[Double]] = []
    var text = NumberText(unit: nil, aggregation: .discrete)
    for time in [now, before].compactMap(\.self) {
      let query = question.statistics(of: type, by: .day, from: time.lowerBound, to: time.upperBound)
      let statistics = question.unitsForPeople.statistics(try await query.run(on: rollups))
      text = NumberText(unit: statistics.unit, aggregation: statistics.aggregation)
      days.append(statistics.dailyValues(in: question.zone).sorted { $0.key < $1.key }.map(\.value))
    }
    let comparison = PeriodComparison(days[0], before: days.count > 1 ? days[1] : [])
    func words(_ period: PeriodComparison.Period) -> String {
      "\(period.mean.map(text.withUnit) ?? "-") (\(HumanFormat.count(period.days, "day")))"
    }
    guard before != nil else {
      return try Console.print(phrases: ["Mean of a whole day:", words(comparison.now)])
    }
    let share = comparison.share.map { share in
      let percent = NumberText.rounded(share * 100, digits: 1)
      return "\(percent > 0 ? "+" : "")\(HumanFormat.number(percent)) %"
    }
    try Console.print(
      phrases: [
        "Mean of a whole day:", words(comparison.now), "before: \(words(comparison.before))", share,
      ].compactMap(\.self))
  }
}
