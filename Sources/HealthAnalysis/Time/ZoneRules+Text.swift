import HealthModel

extension ZoneRules {
  /// `2024-06-15T12:30:00+02:00`: an instant as clocks of the zone show it, with the offset in force (RFC 3339).
  ///
  /// Offsets of seconds, as most were before there were time zones, are cut to the minute, and the time with them: what is
  /// printed always names this instant.
  public func text(_ instant: Timestamp) -> String {
    let offset = offset(at: instant.seconds)
    let minutes = offset >= 0 ? offset / 60 : -((59 - offset) / 60)
    let (clock, isTooFar) = instant.microseconds.addingReportingOverflow(Int64(minutes) * 60_000_000)
    guard !isTooFar else { return instant.iso8601 }
    let parts = [abs(minutes) / 60, abs(minutes) % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
    return Timestamp(microseconds: clock).iso8601.dropLast() + (minutes < 0 ? "-" : "+") + parts.joined(separator: ":")
  }

  /// The date that clocks of the zone show, `2024-06-15`.
  public func date(_ instant: Timestamp) -> String {
    String(Timestamp(seconds: Int64(dayNumber(at: instant.seconds)) * 86_400).iso8601.prefix { $0 != "T" })
  }
}
