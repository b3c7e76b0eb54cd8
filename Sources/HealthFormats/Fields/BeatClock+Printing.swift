import HealthModel

extension BeatClock {
  /// `bpm@time;…` with the times of the clock on the wall, in the form of ``format``.
  ///
  /// - Parameter start: of the record.
  /// - Returns: `nil` where the beats or the format cannot be read.
  func printed(start: Timestamp) -> String? {
    guard let style = WallClockStyle(format) else { return nil }
    var result = ""
    for beat in beats.split(separator: ";", omittingEmptySubsequences: false) {
      let parts = beat.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let seconds = Double(parts[1]), abs(seconds) < 0x1p32 else { return nil }
      let shift = Int64((seconds * 1_000_000).rounded()) + Int64(offset) * 1_000_000
      let (instant, overflow) = start.microseconds.addingReportingOverflow(shift)
      if overflow { return nil }
      let day: Int64 = 86_400_000_000
      result += "\(result.isEmpty ? "" : ";")\(parts[0])@\(style.text(((instant % day) + day) % day))"
    }
    return result
  }
}

/// How a clock on a wall prints the time of day, learnt from one such text.
private struct WallClockStyle {
  private var before: String
  private var after: String
  private var separators: [Character]
  private var fractionDigits: Int
  /// Whether one digit of the hour gets a zero before it.
  private var isPadded: Bool
  private var isTwelveHours: Bool
  /// Of the time that was learnt from.
  private var isMorning: Bool
  /// The scalar of the digit zero.
  private var zero: UInt32

  init?(_ text: String) {
    guard let clock = WallClock(text), let start = text.firstIndex(where: Self.isDigit),
      let end = text.lastIndex(where: Self.isDigit), let scalar = text[start].unicodeScalars.first,
      let value = text[start].wholeNumberValue
    else { return nil }
    before = String(text[..<start])
    after = String(text[text.index(after: end)...])
    zero = scalar.value - UInt32(value)
    let groups = text[start...end].split(omittingEmptySubsequences: false) { !Self.isDigit($0) }
    separators = text[start...end].filter { !Self.isDigit($0) }
    guard groups.count == separators.count + 1, groups.count >= 3 else { return nil }
    fractionDigits = groups.count == 4 ? groups[3].count : 0
    isTwelveHours = !clock.words.isEmpty && (1...12).contains(clock.hour)
    isMorning = DayHalf(clock.words) == .morning
    isPadded = groups[0].count == 2 && (clock.hour < 10 || !isTwelveHours)
  }

  private static func isDigit(_ character: Character) -> Bool {
    character.unicodeScalars.count == 1 && character.wholeNumberValue.map { (0...9).contains($0) } == true
  }

  /// - Parameter time: microseconds since midnight.
  func text(_ time: Int64) -> String {
    let (seconds, fraction) = time.quotientAndRemainder(dividingBy: 1_000_000)
    var hour = Int(seconds / 3600)
    let isSameHalf = !isTwelveHours || (hour < 12) == isMorning
    if isTwelveHours { hour = (hour + 11) % 12 + 1 }
    var text = digits(hour, isPadded ? 2 : 1) + String(separators[0])
    text += digits(Int(seconds / 60 % 60), 2) + String(separators[1]) + digits(Int(seconds % 60), 2)
    if fractionDigits > 0 {
      let all = (digits(Int(fraction), 6) + digits(0, 3)).prefix(fractionDigits)
      text += String(separators[2]) + all
    }
    return Self.words(before, isSameHalf) + text + Self.words(after, isSameHalf)
  }

  private func digits(_ number: Int, _ width: Int) -> String {
    let ascii = String(number)
    var view = String.UnicodeScalarView()
    for digit in (String(repeating: "0", count: max(0, width - ascii.count)) + ascii).utf8 {
      if let scalar = Unicode.Scalar(zero + UInt32(digit - UInt8(ascii: "0"))) { view.append(scalar) }
    }
    return String(view)
  }

  private static let halves = [
    ("AM", "PM"), ("am", "pm"), ("a.m.", "p.m."), ("A.M.", "P.M."), ("上午", "下午"), ("午前", "午後"), ("오전", "오후"),
    ("ص", "م"), ("vorm.", "nachm."), ("fm", "em"),
  ]

  /// The words, or those of the other half of the day.
  private static func words(_ text: String, _ isSame: Bool) -> String {
    if isSame { return text }
    for (morning, afternoon) in halves {
      if text.contains(morning) { return text.replacing(morning, with: afternoon) }
      if text.contains(afternoon) { return text.replacing(afternoon, with: morning) }
    }
    return text
  }
}
