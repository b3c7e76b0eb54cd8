import Foundation

/// Instants as clocks in a time zone show them.
extension Timestamp {
  /// Returns the text of ``iso8601`` with the zone's UTC offset at this instant: `2024-06-15T12:30:00+02:00`. UTC
  /// itself is printed as `Z`.
  ///
  /// Offsets with seconds, common before standard time zones, are rounded down to the minute and the time is adjusted
  /// with them, so the text always denotes this instant.
  public func iso8601(in zone: TimeZone) -> String {
    guard let (shifted, minutes) = shown(in: zone) else { return iso8601 }
    if minutes == 0, zone.isUTC { return iso8601 }
    let offset = [abs(minutes) / 60, abs(minutes) % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
    return "\(shifted.iso8601.dropLast())\(minutes < 0 ? "-" : "+")\(offset)"
  }

  /// Returns the date in the zone, `2024-06-15`.
  public func date(in zone: TimeZone) -> String {
    String((shown(in: zone)?.clock ?? self).iso8601.prefix { $0 != "T" })
  }

  /// Returns whether this instant is the start of a day in the zone.
  public func isStartOfDay(in zone: TimeZone) -> Bool {
    guard let day = CivilTime(date(in: zone)) else { return false }
    return zone.first(of: day) == self
  }

  /// Returns the UTC instant whose clock reading equals the local one, and the offset in minutes. Returns `nil` at
  /// the limits of the representable range.
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
