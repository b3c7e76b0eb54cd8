/// A time of day as a clock on a wall shows it: `20:14:07.68`, `6:14:48.94 PM`, `下午6:14:48`, `20.14.07,68`.
struct WallClock: Equatable {
  /// As printed: of 24, or of 12 where there are ``words``.
  var hour: Int
  var minute: Int
  /// Of the second.
  var microseconds: Int
  var second: Int
  /// What stands beside the digits, which says the half of the day.
  var words: String

  /// `nil` for what is no time of day. Digits of any script are digits.
  init?(_ text: some StringProtocol) {
    var digits: [Int] = []
    var groups: [[Int]] = []
    var separators: [Character] = []
    var words = ""
    var isOver = false
    for character in text {
      if let digit = character.wholeNumberValue, (0...9).contains(digit), character.unicodeScalars.count == 1 {
        // Digits after words that followed digits: not one time.
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

  /// Of hours and minutes a colon or, as in Finnish, a full stop; of seconds a full stop or a comma.
  private static func isSeparator(_ character: Character, after groups: Int) -> Bool {
    groups < 2 ? character == ":" || character == "." : character == "." || character == ","
  }

  /// Microseconds since midnight: of the day, or of the half of it where only that is known.
  var position: (microseconds: Int64, isHalf: Bool)? {
    let rest = Int64((minute * 60 + second) * 1_000_000 + microseconds)
    let hours = { (hour: Int) in Int64(hour) * 3_600_000_000 }
    if words.isEmpty { return (hours(hour) + rest, false) }
    guard let half = DayHalf(words) else { return hour <= 12 ? (hours(hour % 12) + rest, true) : nil }
    // Some print 24 hours and the words.
    if hour == 0 || hour > 12 { return (hours(hour) + rest, false) }
    return half.hour(hour).map { (hours($0) + rest, false) }
  }
}
