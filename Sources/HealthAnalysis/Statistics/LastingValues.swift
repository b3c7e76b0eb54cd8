/// Values of which each holds until the next one begins, but no longer than five minutes after its own end: how a mean over
/// time weighs what is measured now and then.
///
/// Values with the same start count as one, their arithmetic mean.
struct LastingValues {
  /// For how long a value holds after its own end, in microseconds.
  static let lasting: Int64 = 300_000_000

  /// The time whose values may hold within a range, in microseconds.
  static func reach(_ range: Range<Int64>) -> Range<Int64> {
    let (earlier, isTooEarly) = range.lowerBound.subtractingReportingOverflow(lasting)
    return (isTooEarly ? Int64.min : earlier)..<range.upperBound
  }

  /// A value, and the time that it holds, in microseconds.
  struct Stretch: Hashable {
    var value: Double
    var start: Int64
    var end: Int64
  }

  private var start: Int64 = 0
  private var end: Int64 = 0
  private var sum = 0.0
  private var count = 0.0

  /// - Parameter start: in microseconds; no earlier than that of the value before.
  /// - Returns: what held until now.
  mutating func add(start: Int64, end: Int64, value: Double) -> Stretch? {
    if count > 0, start == self.start {
      sum += value
      count += 1
      self.end = max(self.end, end)
      return nil
    }
    defer { (self.start, self.end, sum, count) = (start, end, value, 1) }
    return stretch(until: start)
  }

  /// What holds at the end.
  mutating func finish() -> Stretch? {
    defer { count = 0 }
    return stretch(until: .max)
  }

  private func stretch(until next: Int64) -> Stretch? {
    guard count > 0 else { return nil }
    let (last, isTooFar) = end.addingReportingOverflow(Self.lasting)
    return Stretch(value: sum / count, start: start, end: min(next, isTooFar ? .max : last))
  }
}
