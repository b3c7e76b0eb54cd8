import Destinations
import Foundation
import HealthModel

/// Times of day, on all or some days of the week.
public struct DailyTimes: Hashable, Sendable {
  /// The names of the days from Monday to Sunday.
  private static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
  /// The local times in seconds since midnight, sorted; never empty.
  private let seconds: [Int]
  /// The days from 0 for Monday; `nil` for all days.
  private let days: Set<Int>?

  init(_ settings: DestinationSettings) throws(SettingsError) {
    var seconds: Set<Int> = []
    for text in settings.list("at") {
      guard let second = Self.second(text) else {
        throw SettingsError("at", .invalid("must be times of day, such as 07:30, and \(text) is none"))
      }
      seconds.insert(second)
    }
    guard !seconds.isEmpty else { throw SettingsError("at", .invalid("names no time")) }
    guard seconds.count <= 288 else { throw SettingsError("at", .invalid("names more than 288 times")) }
    self.seconds = seconds.sorted()
    guard settings.has("days") else {
      days = nil
      return
    }
    var days: Set<Int> = []
    for text in settings.list("days") {
      guard let day = Self.names.firstIndex(of: text.lowercased()) else {
        throw SettingsError("days", .invalid("must be of \(Self.names.joined(separator: ", "))"))
      }
      days.insert(day)
    }
    guard !days.isEmpty else { throw SettingsError("days", .invalid("names no day")) }
    self.days = days
  }

  /// Parses a time of day such as `07:30`, `7:30` or `07:30:15`, or returns `nil`.
  private static func second(_ text: String) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), parts.allSatisfy({ (1...2).contains($0.utf8.count) }) else { return nil }
    let numbers = parts.compactMap { UInt8($0) }.map(Int.init)
    guard numbers.count == parts.count, numbers[0] < 24, numbers.dropFirst().allSatisfy({ $0 < 60 }) else { return nil }
    return numbers[0] * 3600 + numbers[1] * 60 + (numbers.count > 2 ? numbers[2] : 0)
  }

  /// Returns the first of these times after an instant. A time that is skipped when clocks go forward counts as the
  /// moment of the change; a time that occurs twice counts once, the first time.
  func next(after instant: Timestamp, in zone: TimeZone) -> Timestamp {
    // The local time in days and seconds since 1970.
    let local = instant.seconds + Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(instant.seconds))))
    let today = Int((Double(local) / 86_400).rounded(.down))
    // Within eight days, each time occurs at least once, even if clocks change.
    let candidates = (today - 1...today + 8).flatMap { day in
      // 1970-01-01 was a Thursday.
      let weekday = ((day + 3) % 7 + 7) % 7
      guard days?.contains(weekday) ?? true else { return [] as [Timestamp] }
      return seconds.map { zone.first(of: CivilTime(day: day, second: $0)) }
    }
    return candidates.filter { $0 > instant }.min() ?? Timestamp(seconds: instant.seconds + 86_400)
  }
}

extension DailyTimes: CustomStringConvertible {
  /// A short description: `at 07:30, 22:00 on mon, fri`.
  public var description: String {
    let times = seconds.map {
      let text = String(format: "%02d:%02d", $0 / 3600, $0 / 60 % 60)
      return $0 % 60 == 0 ? text : text + String(format: ":%02d", $0 % 60)
    }
    let names = days.map { days in " on \(days.sorted().map { Self.names[$0] }.joined(separator: ", "))" } ?? ""
    return "at \(times.joined(separator: ", "))\(names)"
  }
}
