/// Values that each hold until the next one begins, but at most five minutes after their own end. A mean over time
/// weights occasional measurements this way.
///
/// Values with the same start count as one, their arithmetic mean.
struct LastingValues {
  /// The maximum time for which a value holds after its own end, in microseconds.
  static let lasting: Int64 = 300_000_000

  /// Returns the range whose values may hold within the given range, in microseconds.
  static func reach(_ range: Range<Int64>) -> Range<Int64> {
    let (earlier, isTooEarly) = range.lowerBound.subtractingReportingOverflow(lasting)
    return (isTooEarly ? Int64.min : earlier)..<range.upperBound
  }

  /// A value and the time for which it holds, in microseconds.
  struct Stretch: Hashable {
    var value: Double
    var start: Int64
    var end: Int64
  }

  private var start: Int64 = 0
  private var end: Int64 = 0
  private var sum = 0.0
  private var count = 0.0

  /// Adds a value.
  ///
  /// - Parameter start: microseconds; not before that of the previous value.
  /// - Returns: the previous value with the time for which it held, or `nil` if there is none yet.
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

  /// Returns the last value with the time for which it holds.
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
