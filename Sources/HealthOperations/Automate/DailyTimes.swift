import Destinations
import Foundation
import HealthModel

/// Some times of day, on all days or on some of the week.
public struct DailyTimes: Hashable, Sendable {
  /// Of Monday to Sunday.
  private static let names = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
  /// Seconds since midnight as a clock on a wall shows it, in order; never empty.
  private let seconds: [Int]
  /// From 0 for Monday; `nil` for all.
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

  /// `7:30` and `07:30:15` too; `nil` of what is no time of day.
  private static func second(_ text: String) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), parts.allSatisfy({ (1...2).contains($0.utf8.count) }) else { return nil }
    let numbers = parts.compactMap { UInt8($0) }.map(Int.init)
    guard numbers.count == parts.count, numbers[0] < 24, numbers.dropFirst().allSatisfy({ $0 < 60 }) else { return nil }
    return numbers[0] * 3600 + numbers[1] * 60 + (numbers.count > 2 ? numbers[2] : 0)
  }

  /// The first of these times after an instant. One that clocks are put forward over is when that is done, and one that
  /// comes twice is its first.
  func next(after instant: Timestamp, in zone: TimeZone) -> Timestamp {
    // As the clock shows it there, in days and seconds since 1970.
    let local = instant.seconds + Int64(zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(instant.seconds))))
    let today = Int((Double(local) / 86_400).rounded(.down))
    // A week and a day later each has come, whatever was put forward or back.
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
  /// `at 07:30, 22:00 on mon, fri`.
  public var description: String {
    let times = seconds.map {
      let text = String(format: "%02d:%02d", $0 / 3600, $0 / 60 % 60)
      return $0 % 60 == 0 ? text : text + String(format: ":%02d", $0 % 60)
    }
    let names = days.map { days in " on \(days.sorted().map { Self.names[$0] }.joined(separator: ", "))" } ?? ""
    return "at \(times.joined(separator: ", "))\(names)"
  }
}
