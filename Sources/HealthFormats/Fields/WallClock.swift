/// A time of day as printed on a wall clock: `20:14:07.68`, `6:14:48.94 PM`, `下午6:14:48`, `20.14.07,68`.
struct WallClock: Equatable {
  /// The printed hour, of 24 or, if ``words`` is not empty, usually of 12.
  var hour: Int
  var minute: Int
  /// The fraction of the second, in microseconds.
  var microseconds: Int
  var second: Int
  /// The text beside the digits, which names the half of the day; empty on a 24-hour clock.
  var words: String

  /// Creates a time of day, or returns `nil` if the text is not one. Accepts digits of any script.
  init?(_ text: some StringProtocol) {
    if let plain = String(text).withBytes({ Self(plain: $0) }) {
      self = plain
      return
    }
    self.init(anyScript: text)
  }

  /// Creates a time of day from UTF-8, with the same rules as ``init(_:)``.
  init?(_ bytes: Bytes) {
    if let plain = Self(plain: bytes) {
      self = plain
      return
    }
    self.init(anyScript: bytes.text)
  }

  private init?(anyScript text: some StringProtocol) {
    var digits: [Int] = []
    var groups: [[Int]] = []
    var separators: [Character] = []
    var words = ""
    var isOver = false
    for character in text {
      if let digit = character.wholeNumberValue, (0...9).contains(digit), character.unicodeScalars.count == 1 {
        // Digits after words that followed digits are not a single time.
        if isOver { return nil }
        digits.append(digit)
      } else if !digits.isEmpty, !isOver, groups.count < 3, Self.isSeparator(character, after: groups.count) {
        groups.append(digits)
        separators.append(character)
        digits = []
      } else {
        if !digits.isEmpty || !groups.isEmpty {
          isOver = true
          if digits.isEmpty { return nil }
        }
        if !character.isWhitespace { words.append(character) }
      }
    }
    groups.append(digits)
    guard groups.count >= 3, (1...2).contains(groups[0].count), groups[1].count == 2, groups[2].count == 2,
      separators[0] == separators[1], groups.count == 3 || (1...9).contains(groups[3].count), words.count <= 32
    else { return nil }
    let number = { (digits: [Int]) in digits.reduce(0) { $0 * 10 + $1 } }
    (hour, minute, second) = (number(groups[0]), number(groups[1]), number(groups[2]))
    microseconds = groups.count == 4 ? number((groups[3] + [0, 0, 0, 0, 0, 0]).prefix(6).map(\.self)) : 0
    self.words = words
    guard hour < 24, minute < 60, second < 60 else { return nil }
  }

  /// Parses the most common forms from bytes: `20:14:07.68`, `6:14:48,94 PM` with any of Apple's spaces.
  private init?(plain bytes: Bytes) {
    var rest = bytes
    func take(_ range: ClosedRange<Int>) -> (value: Int, count: Int)? {
      var (value, count) = (0, 0)
      while count < min(range.upperBound, rest.count), rest[count] &- 0x30 < 10 {
        value = value * 10 + Int(rest[count] &- 0x30)
        count += 1
      }
      rest = rest.dropFirst(count)
      return count >= range.lowerBound ? (value, count) : nil
    }
    func take(_ text: StaticString) -> Bool {
      guard rest.hasPrefix(text) else { return false }
      rest = rest.dropFirst(text.utf8CodeUnitCount)
      return true
    }
    guard let hour = take(1...2), take(":"), let minute = take(2...2), take(":"), let second = take(2...2),
      hour.value < 24, minute.value < 60, second.value < 60
    else { return nil }
    (self.hour, self.minute, self.second) = (hour.value, minute.value, second.value)
    microseconds = 0
    if take(".") || take(",") {
      guard let fraction = take(1...6) else { return nil }
      microseconds = (fraction.count..<6).reduce(fraction.value) { value, _ in value * 10 }
    }
    words = ""
    if rest.count == 0 { return }
    guard take(" ") || take("\u{202F}") || take("\u{A0}") else { return nil }
    if take("AM") { words = "AM" } else if take("PM") { words = "PM" }
    guard rest.count == 0, !words.isEmpty else { return nil }
  }

  /// Returns whether a character may stand between groups: a colon or, as in Finnish, a full stop between hours,
  /// minutes and seconds; a full stop or a comma before the fraction.
  private static func isSeparator(_ character: Character, after groups: Int) -> Bool {
    groups < 2 ? character == ":" || character == "." : character == "." || character == ","
  }

  /// The number of microseconds since midnight or, if `isHalf` is true, since midnight or noon.
  var position: (microseconds: Int64, isHalf: Bool)? {
    let rest = Int64((minute * 60 + second) * 1_000_000 + microseconds)
    let hours = { (hour: Int) in Int64(hour) * 3_600_000_000 }
    if words.isEmpty { return (hours(hour) + rest, false) }
    guard let half = DayHalf(words) else { return hour <= 12 ? (hours(hour % 12) + rest, true) : nil }
    // Some locales print 24 hours and the words.
    if hour == 0 || hour > 12 { return (hours(hour) + rest, false) }
    return half.hour(hour).map { (hours($0) + rest, false) }
  }
}
