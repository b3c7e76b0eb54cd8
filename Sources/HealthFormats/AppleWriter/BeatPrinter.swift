import Foundation
import HealthModel

/// Prints the times of heart beats as ``BeatClock`` read them: on the clock of the place, in the format of the locale.
struct BeatPrinter {
  /// One time as it was printed, of which all but the digits stays: `6:14:48.94 PM`.
  let format: String
  /// Seconds east of UTC.
  let offset: Int

  /// - Parameter seconds: after `start`, as text.
  /// - Returns: `nil` for what is no time.
  func text(of seconds: String, after start: Timestamp) -> String? {
    guard let shown = WallClock(format), let value = Double(seconds), abs(value) < 1e6, abs(start.seconds) < 1 << 40
    else { return nil }
    let day = 86_400_000_000
    let sum = (Int(start.microseconds) + Int((value * 1_000_000).rounded()) + offset * 1_000_000) % day
    let time = sum < 0 ? sum + day : sum
    let hour = time / 3_600_000_000
    var groups = [hour, time / 60_000_000 % 60, time / 1_000_000 % 60].map { ($0 < 10 ? "0" : "") + String($0) }
    // A clock of 12 hours has words beside it, and one whose hour was 13 or more has 24 in spite of them.
    if !shown.words.isEmpty, shown.hour > 0, shown.hour <= 12 {
      let half = hour % 12 == 0 ? 12 : hour % 12
      groups[0] = (half < 10 && format.first { $0.isWholeNumber }?.wholeNumberValue == 0 ? "0" : "") + String(half)
    } else if shown.hour < 10, format.prefix(while: { !$0.isPunctuation }).count(where: \.isWholeNumber) == 1 {
      groups[0] = String(hour)
    }
    groups.append(String(String(time % 1_000_000 + 1_000_000).dropFirst()))
    return filled(with: groups)
  }

  /// The format with its groups of digits replaced, the last to as many digits as it has.
  private func filled(with groups: [String]) -> String {
    var output = ""
    var index = 0
    var rest = Substring(format)
    while let character = rest.first {
      let digits = rest.prefix { $0.isWholeNumber }
      guard !digits.isEmpty, index < groups.count else {
        output.append(character)
        rest.removeFirst()
        continue
      }
      output += index == 3 ? groups[3].prefix(digits.count) : groups[index][...]
      index += 1
      rest = rest.dropFirst(digits.count)
    }
    return output
  }
}
