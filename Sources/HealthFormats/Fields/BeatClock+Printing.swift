import HealthModel

/// Prints the times of heart beats as they were before they were aligned.
extension BeatClock {
  /// - Parameters:
  ///   - beats: `bpm@seconds;…`, in seconds after `start`: the metadata `hpeer.beatsPerMinute`.
  ///   - offset: seconds east of UTC of the clock: `hpeer.beatsUTCOffset`.
  ///   - format: the first beat's time as it was printed: `hpeer.beatsFormat`.
  /// - Returns: `nil` for what is no such text.
  static func printed(
    _ beats: String, start: Timestamp, offset: Int, format: String
  ) -> [(bpm: String, time: String)]? {
    guard let style = Style(format) else { return nil }
    var result: [(bpm: String, time: String)] = []
    for beat in beats.split(separator: ";", omittingEmptySubsequences: false) {
      let parts = beat.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let microseconds = microseconds(parts[1]) else { return nil }
      let (shift, overflow) = Int64(offset).multipliedReportingOverflow(by: 1_000_000)
      let (sum, overflowOfSum) = start.microseconds.addingReportingOverflow(microseconds)
      let (shown, overflowOfShown) = sum.addingReportingOverflow(shift)
      guard !overflow, !overflowOfSum, !overflowOfShown else { return nil }
      result.append((String(parts[0]), style.text(of: Timestamp(microseconds: shown))))
    }
    return result
  }

  /// Of `-1.5`.
  private static func microseconds(_ text: Substring) -> Int64? {
    guard let number = DecimalReader.read(String(text))?.value, abs(number) < 1e9 else { return nil }
    return Int64((number * 1_000_000).rounded())
  }

  /// How a locale prints a time of day.
  private struct Style {
    private let before: String
    private let after: String
    private let separators: (hour: Character, second: Character?)
    private let fractionDigits: Int
    private let padsHour: Bool
    private let half: DayHalf?
    private let isTwelveHours: Bool

    init?(_ format: String) {
      guard let clock = WallClock(format), let first = format.firstIndex(where: { $0.isASCII && $0.isNumber }),
        let last = format.lastIndex(where: { $0.isASCII && $0.isNumber })
      else { return nil }
      let digits = format[first...last]
      let groups = digits.split { !$0.isNumber }
      let marks = digits.filter { !$0.isNumber }
      guard groups.count == 3 || groups.count == 4, let hour = marks.first else { return nil }
      before = String(format[..<first])
      after = String(format[format.index(after: last)...])
      separators = (hour, groups.count == 4 ? marks.last : nil)
      fractionDigits = groups.count == 4 ? groups[3].count : 0
      isTwelveHours = !clock.words.isEmpty
      padsHour = groups[0].count == 2 && (groups[0].first == "0" || !isTwelveHours)
      half = isTwelveHours ? DayHalf(clock.words) : nil
    }

    func text(of instant: Timestamp) -> String {
      let civil = instant.civil
      let hour = isTwelveHours ? (civil.hour + 11) % 12 + 1 : civil.hour
      var text = padsHour && hour < 10 ? "0\(hour)" : "\(hour)"
      for number in [civil.minute, civil.second] { text += "\(separators.hour)\(number < 10 ? "0" : "")\(number)" }
      if let mark = separators.second {
        let digits = String(civil.microsecond + 1_000_000).dropFirst() + "000"
        text += "\(mark)\(digits.prefix(fractionDigits))"
      }
      let isOther = half.map { $0 != (civil.hour < 12 ? .morning : .afternoon) } ?? false
      return isOther ? Self.other(before) + text + Self.other(after) : before + text + after
    }

    /// The words for the other half of the day.
    private static func other(_ words: String) -> String {
      for (one, two) in [
        ("AM", "PM"), ("am", "pm"), ("a.m.", "p.m."), ("A.M.", "P.M."), ("上午", "下午"), ("午前", "午後"), ("오전", "오후"),
        ("ص", "م"), ("π.μ.", "μ.μ."), ("dop.", "odp."), ("vorm.", "nachm."), ("fm", "em"), ("f.m.", "e.m."),
      ] {
        let word = words.filter { !$0.isWhitespace }
        if word == one { return words.replacing(one, with: two) }
        if word == two { return words.replacing(two, with: one) }
      }
      return words
    }
  }
}
