/// A date in Health Auto Export's formats: `2024-09-21 07:57:00 +1000`, `2024-09-21 7:57:00 am +1000` with any kind
/// of space before `am`, ISO 8601 with `Z`, or a date alone, which means midnight UTC.
package struct AutoExportDate: Equatable {
  package var instant: Timestamp
  /// The seconds since midnight in the time zone of the text.
  package var timeOfDay: Int
  package var hasOffset = true

  package init?(_ text: String) {
    var scalars = text.unicodeScalars.map { $0 == "\u{202F}" || $0 == "\u{A0}" ? " " : $0 }[...]
    guard scalars.count <= 64, let year = Self.number(&scalars, 4...4), Self.take(&scalars, "-"),
      let month = Self.number(&scalars, 2...2), Self.take(&scalars, "-"), let day = Self.number(&scalars, 2...2)
    else { return nil }
    var (hour, minute, second, microsecond, offset) = (0, 0, 0, 0, 0)
    hasOffset = false
    if !scalars.isEmpty {
      guard Self.take(&scalars, "T") || Self.take(&scalars, " "), let h = Self.number(&scalars, 1...2),
        Self.take(&scalars, ":"), let m = Self.number(&scalars, 2...2)
      else { return nil }
      (hour, minute) = (h, m)
      if Self.take(&scalars, ":") {
        guard let s = Self.number(&scalars, 2...2) else { return nil }
        second = s
        if Self.take(&scalars, ".") { microsecond = Self.fraction(&scalars) }
      }
      if let isAfternoon = Self.half(&scalars) {
        guard (1...12).contains(hour) else { return nil }
        hour = hour % 12 + (isAfternoon ? 12 : 0)
      }
      if let seconds = Self.offset(&scalars) {
        offset = seconds
        hasOffset = true
      }
      guard scalars.isEmpty else { return nil }
    }
    guard
      let instant = Timestamp(
        year: year, month: month, day: day, hour: hour, minute: minute, second: second, microsecond: microsecond,
        offset: offset)
    else { return nil }
    self.instant = instant
    timeOfDay = hour * 3600 + minute * 60 + second
  }

  private typealias Scalars = ArraySlice<Unicode.Scalar>

  private static func take(_ scalars: inout Scalars, _ scalar: Unicode.Scalar) -> Bool {
    guard scalars.first == scalar else { return false }
    scalars.removeFirst()
    return true
  }

  private static func number(_ scalars: inout Scalars, _ length: ClosedRange<Int>) -> Int? {
    var (value, count) = (0, 0)
    while count < length.upperBound, let digit = digit(scalars.first) {
      value = value * 10 + digit
      count += 1
      scalars.removeFirst()
    }
    return count >= length.lowerBound ? value : nil
  }

  private static func digit(_ scalar: Unicode.Scalar?) -> Int? {
    guard let scalar, ("0"..."9").contains(scalar) else { return nil }
    return Int(scalar.value) - 48
  }

  /// Reads the fraction of a second in microseconds. Further digits are dropped.
  private static func fraction(_ scalars: inout Scalars) -> Int {
    var (value, scale) = (0, 100_000)
    while let digit = digit(scalars.first) {
      value += digit * scale
      scale /= 10
      scalars.removeFirst()
    }
    return value
  }

  /// Reads `am`, `PM` or `p.m.` and returns whether it is the second half of the day.
  private static func half(_ scalars: inout Scalars) -> Bool? {
    var rest = scalars
    _ = take(&rest, " ")
    let isAfternoon: Bool
    if take(&rest, "a") || take(&rest, "A") {
      isAfternoon = false
    } else if take(&rest, "p") || take(&rest, "P") {
      isAfternoon = true
    } else {
      return nil
    }
    _ = take(&rest, ".")
    guard take(&rest, "m") || take(&rest, "M") else { return nil }
    _ = take(&rest, ".")
    scalars = rest
    return isAfternoon
  }

  /// Reads the UTC offset in seconds east of UTC.
  private static func offset(_ scalars: inout Scalars) -> Int? {
    var rest = scalars
    _ = take(&rest, " ")
    if take(&rest, "Z") {
      scalars = rest
      return 0
    }
    let isWest = take(&rest, "-")
    guard isWest || take(&rest, "+"), let hours = number(&rest, 2...2), hours < 24 else { return nil }
    _ = take(&rest, ":")
    guard let minutes = number(&rest, 2...2), minutes < 60 else { return nil }
    scalars = rest
    return (isWest ? -1 : 1) * (hours * 3600 + minutes * 60)
  }
}
