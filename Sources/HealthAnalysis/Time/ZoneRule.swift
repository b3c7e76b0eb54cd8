import HealthModel

/// The rule for a zone's future clock changes: POSIX `TZ` (IEEE Std 1003.1, 8.3) with the extended hours of RFC 8536,
/// section 3.3.1.
struct ZoneRule: Hashable, Sendable {
  /// The valid UTC offsets in seconds east of UTC: less than 26 hours, as RFC 8536 requires.
  static let offsets = -93_599...93_599

  /// The standard offset in seconds east of UTC.
  let standard: Int
  /// The daylight saving time, if there is any.
  let saving: Saving?

  struct Saving: Hashable, Sendable {
    /// The offset in seconds east of UTC.
    var offset: Int
    var start: Change
    var end: Change
  }

  /// The day and time of a yearly clock change.
  struct Change: Hashable, Sendable {
    enum Day: Hashable, Sendable {
      /// A day from 1 to 365; 29 February is never counted.
      case julian(Int)
      /// A day from 0, counting 29 February.
      case ofYear(Int)
      /// A weekday in a month.
      ///
      /// - Parameters:
      ///   - week: from 1; 5 is the last week.
      ///   - weekday: from 0, Sunday.
      case weekday(month: Int, week: Int, weekday: Int)
    }

    var day: Day
    /// The seconds after midnight in the previous local time, up to a week in either direction.
    var time: Int
  }

  /// Reads a rule.
  ///
  /// - Throws: ``ZoneError/malformed(_:)``.
  init(_ text: some Sequence<UInt8>) throws(ZoneError) {
    var reader = Reader(rest: Array(text)[...])
    try reader.name()
    standard = try -reader.time(hours: 0...24)
    guard !reader.rest.isEmpty else {
      saving = nil
      return
    }
    try reader.name()
    let offset = reader.rest.first == UInt8(ascii: ",") ? standard + 3600 : try -reader.time(hours: 0...24)
    let start = try reader.change()
    let end = try reader.change()
    guard reader.rest.isEmpty else { throw Reader.wrong }
    saving = Saving(offset: offset, start: start, end: end)
  }

  /// Returns the clock changes of a year with their new offsets, in order: two or none.
  func transitions(in year: Int) -> [(time: Int64, offset: Int)] {
    guard let saving else { return [] }
    return [
      (saving.start.seconds(in: year) - Int64(standard), saving.offset),
      (saving.end.seconds(in: year) - Int64(saving.offset), standard),
    ].sorted { $0.0 < $1.0 }
  }

  private struct Reader {
    static let wrong = ZoneError.malformed("its rule for the future cannot be read")

    var rest: ArraySlice<UInt8>

    /// Reads three or more letters, or anything in angle brackets.
    mutating func name() throws(ZoneError) {
      if rest.first == UInt8(ascii: "<") {
        guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { throw Self.wrong }
        rest = rest[(end + 1)...]
        return
      }
      let letters = rest.prefix { ($0 | 0x20) >= UInt8(ascii: "a") && ($0 | 0x20) <= UInt8(ascii: "z") }
      guard letters.count >= 3 else { throw Self.wrong }
      rest = rest.dropFirst(letters.count)
    }

    mutating func take(_ character: Unicode.Scalar) -> Bool {
      guard rest.first == UInt8(ascii: character) else { return false }
      rest.removeFirst()
      return true
    }

    mutating func number(_ range: ClosedRange<Int>) throws(ZoneError) -> Int {
      let digits = rest.prefix { $0 >= 0x30 && $0 <= 0x39 }
      guard (1...3).contains(digits.count) else { throw Self.wrong }
      let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
      guard range.contains(number) else { throw Self.wrong }
      rest = rest.dropFirst(digits.count)
      return number
    }

    /// Reads `[+-]hh[:mm[:ss]]` in seconds.
    mutating func time(hours: ClosedRange<Int>) throws(ZoneError) -> Int {
      let isNegative = take("-")
      if !isNegative { _ = take("+") }
      var seconds = try number(hours) * 3600
      if take(":") { seconds += try number(0...59) * 60 }
      if take(":") { seconds += try number(0...59) }
      return isNegative ? -seconds : seconds
    }

    mutating func change() throws(ZoneError) -> Change {
      guard take(",") else { throw Self.wrong }
      let day: Change.Day
      if take("M") {
        let month = try number(1...12)
        guard take(".") else { throw Self.wrong }
        let week = try number(1...5)
        guard take(".") else { throw Self.wrong }
        day = .weekday(month: month, week: week, weekday: try number(0...6))
      } else if take("J") {
        day = .julian(try number(1...365))
      } else {
        day = .ofYear(try number(0...365))
      }
      return Change(day: day, time: take("/") ? try time(hours: 0...167) : 7200)
    }
  }
}

extension ZoneRule.Change {
  /// Returns the change of a year in local time, in seconds since 1970.
  fileprivate func seconds(in year: Int) -> Int64 {
    let newYear = Timestamp.daysFromCivil(year: year, month: 1, day: 1)
    let days: Int
    switch day {
    case .ofYear(let day): days = newYear + day
    case .julian(let day):
      let isLeap = Timestamp.daysFromCivil(year: year + 1, month: 1, day: 1) - newYear == 366
      days = newYear + day - (isLeap && day >= 60 ? 0 : 1)
    case .weekday(let month, let week, let weekday):
      let first = Timestamp.daysFromCivil(year: year, month: month, day: 1)
      let next = Timestamp.daysFromCivil(year: month == 12 ? year + 1 : year, month: month % 12 + 1, day: 1)
      // 1970-01-01 was a Thursday.
      let offset = ((weekday - first - 4) % 7 + 7) % 7
      let day = first + offset + (week - 1) * 7
      days = day < next ? day : day - 7
    }
    return Int64(days) * 86_400 + Int64(time)
  }
}
