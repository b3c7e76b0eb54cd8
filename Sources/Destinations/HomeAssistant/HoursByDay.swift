/// Hours in one sorted array, with the range of each day in UTC.
struct HoursByDay: Sendable {
  private let hours: [HistoryHour]
  private var ranges: [Int: Range<Int>] = [:]

  /// - Parameter hours: in order.
  init(_ hours: [HistoryHour]) {
    self.hours = hours
    for (index, hour) in hours.enumerated() {
      let day = hour.day
      ranges[day] = (ranges[day]?.lowerBound ?? index)..<(index + 1)
    }
  }

  /// Those that have any.
  var days: Set<Int> { Set(ranges.keys) }

  /// Of one day, perhaps none.
  subscript(day: Int) -> ArraySlice<HistoryHour> { ranges[day].map { hours[$0] } ?? [] }

  /// Without all other days.
  func of(_ days: Set<Int>) -> HoursByDay {
    var found = self
    found.ranges = ranges.filter { days.contains($0.key) }
    return found
  }
}
