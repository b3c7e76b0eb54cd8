import Foundation

/// Instants as a clock in some zone shows them.
extension Timestamp {
  /// `2024-06-15T12:30:00+02:00`: as ``iso8601``, with the offset that is in force there then. `Z` for UTC itself.
  ///
  /// Offsets of seconds, as most were before there were time zones, are cut to the minute, and the time with them: what
  /// is printed always names this instant.
  public func iso8601(in zone: TimeZone) -> String {
    guard let (shifted, minutes) = shown(in: zone) else { return iso8601 }
    if minutes == 0, zone.isUTC { return iso8601 }
    let offset = [abs(minutes) / 60, abs(minutes) % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    return "\(shifted.iso8601.dropLast())\(minutes < 0 ? "-" : "+")\(offset)"
  }

  /// The date there, `2024-06-15`.
  public func date(in zone: TimeZone) -> String {
    String((shown(in: zone)?.clock ?? self).iso8601.prefix { $0 != "T" })
  }

  /// Whether a day of the zone begins at this instant.
  public func isStartOfDay(in zone: TimeZone) -> Bool {
    guard let day = CivilTime(date(in: zone)) else { return false }
    return zone.first(of: day) == self
  }

  /// What a clock in UTC would have to show, and the minutes it is ahead. `nil` at the very ends of time.
  private func shown(in zone: TimeZone) -> (clock: Timestamp, minutes: Int)? {
    let seconds = zone.offset(at: self)
    let minutes = seconds >= 0 ? seconds / 60 : -((59 - seconds) / 60)
    let (sum, overflow) = microseconds.addingReportingOverflow(Int64(minutes) * 60_000_000)
    return overflow ? nil : (Timestamp(microseconds: sum), minutes)
  }
}

extension TimeZone {
  fileprivate var isUTC: Bool { ["GMT", "UTC", "Etc/UTC", "Etc/GMT", "Etc/UCT", "Zulu"].contains(identifier) }
}
