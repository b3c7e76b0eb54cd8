import ArgumentParser
import Foundation
import HealthModel

/// A date that a person types: `2024-06-15` (a whole local day) or an ISO 8601 instant.
struct DateArgument: ExpressibleByArgument {
  let text: String
  /// The instant, or the first of the day.
  let start: Timestamp
  /// The instant, or the first of the next day.
  let end: Timestamp

  init?(argument: String) {
    text = argument
    if argument.utf8.count == 10, let day = Self.localDay(argument) {
      (start, end) = day
    } else if let instant = Timestamp(iso8601: argument) {
      (start, end) = (instant, instant)
    } else {
      return nil
    }
  }

  private static func localDay(_ text: String) -> (Timestamp, Timestamp)? {
    guard let utc = Timestamp(iso8601: text) else { return nil }
    let (year, month, day, _, _, _, _) = utc.civil
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .current
    guard let first = calendar.date(from: DateComponents(year: year, month: month, day: day)),
      let next = calendar.date(byAdding: .day, value: 1, to: first)
    else { return nil }
    return (
      Timestamp(seconds: Int64(first.timeIntervalSince1970)), Timestamp(seconds: Int64(next.timeIntervalSince1970))
    )
  }
}
