/// The format of a wall clock's times, learned from one example.
struct WallClockStyle {
  /// The text before and after the digits, in UTF-8.
  private struct Words {
    var before: [UInt8]
    var after: [UInt8]
  }

  /// The words for the half of the day in the example.
  private let words: Words
  private let otherWords: Words
  private let separators: [[UInt8]]
  private let fractionDigits: Int
  /// Whether hours of one digit have a leading zero.
  private let isPadded: Bool
  private let isTwelveHours: Bool
  /// Whether the example is a time before noon.
  private let isMorning: Bool
  /// The ten digits of the example's script in UTF-8, zero first; empty for ASCII.
  private let digits: [[UInt8]]

  init?(_ text: String) {
    guard let clock = WallClock(text), let start = text.firstIndex(where: Self.isDigit),
      let end = text.lastIndex(where: Self.isDigit), let digits = Self.digits(like: text[start])
    else { return nil }
    self.digits = digits
    let groups = text[start...end].split(omittingEmptySubsequences: false) { !Self.isDigit($0) }
    separators = text[start...end].filter { !Self.isDigit($0) }.map { Array($0.utf8) }
    guard groups.count == separators.count + 1, groups.count >= 3 else { return nil }
    fractionDigits = groups.count == 4 ? groups[3].count : 0
    isTwelveHours = !clock.words.isEmpty && (1...12).contains(clock.hour)
    isMorning = DayHalf(clock.words) == .morning
    isPadded = groups[0].count == 2 && (clock.hour < 10 || !isTwelveHours)
    let (before, after) = (String(text[..<start]), String(text[text.index(after: end)...]))
    words = Words(before: Array(before.utf8), after: Array(after.utf8))
    otherWords =
      isTwelveHours
      ? Words(before: Array(Self.otherHalf(before).utf8), after: Array(Self.otherHalf(after).utf8)) : words
  }

  private static func isDigit(_ character: Character) -> Bool {
    character.unicodeScalars.count == 1 && character.wholeNumberValue.map { (0...9).contains($0) } == true
  }

  private static func digits(like digit: Character) -> [[UInt8]]? {
    guard let scalar = digit.unicodeScalars.first, let value = digit.wholeNumberValue else { return nil }
    if scalar.isASCII { return [] }
    let zero = scalar.value - UInt32(value)
    let digits = (zero..<zero + 10).compactMap { Unicode.Scalar($0).map { Array(String($0).utf8) } }
    return digits.count == 10 ? digits : nil
  }

  /// Appends a time of day.
  ///
  /// - Parameter time: the number of microseconds since midnight.
  func append(_ time: Int64, to text: inout [UInt8]) {
    let (seconds, fraction) = Int(time).quotientAndRemainder(dividingBy: 1_000_000)
    var hour = seconds / 3600
    let words = !isTwelveHours || (hour < 12) == isMorning ? words : otherWords
    if isTwelveHours { hour = (hour + 11) % 12 + 1 }
    text += words.before
    append(hour, from: isPadded || hour > 9 ? 10 : 1, to: &text)
    text += separators[0]
    append(seconds / 60 % 60, from: 10, to: &text)
    text += separators[1]
    append(seconds % 60, from: 10, to: &text)
    if fractionDigits > 0 {
      text += separators[2]
      // The fraction has at most nine digits; the last three are below a microsecond.
      append(fraction * 1000, from: 100_000_000, count: fractionDigits, to: &text)
    }
    text += words.after
  }

  /// Appends a number with leading zeros.
  ///
  /// - Parameters:
  ///   - place: the place value of the first digit: 10 for two digits.
  ///   - count: the maximum number of digits.
  private func append(_ number: Int, from place: Int, count: Int = .max, to text: inout [UInt8]) {
    var (place, count) = (place, count)
    while place > 0, count > 0 {
      let digit = number / place % 10
      if digits.isEmpty { text.append(UInt8(ascii: "0") + UInt8(digit)) } else { text += digits[digit] }
      place /= 10
      count -= 1
    }
  }

  private static let halves = [
    ("AM", "PM"), ("am", "pm"), ("a.m.", "p.m."), ("A.M.", "P.M."), ("上午", "下午"), ("午前", "午後"), ("오전", "오후"),
    ("ص", "م"), ("vorm.", "nachm."), ("fm", "em"),
  ]

  private static func otherHalf(_ words: String) -> String {
    for (morning, afternoon) in halves {
      if words.contains(morning) { return words.replacing(morning, with: afternoon) }
      if words.contains(afternoon) { return words.replacing(afternoon, with: morning) }
    }
    return words
  }
}
