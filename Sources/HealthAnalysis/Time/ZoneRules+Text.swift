import HealthModel

extension ZoneRules {
  /// Returns an instant in local time with its UTC offset (RFC 3339): `2024-06-15T12:30:00+02:00`.
  ///
  /// Offsets with seconds, common before standard time zones, are rounded down to the minute and the time is adjusted
  /// with them, so the text always denotes this instant.
  public func text(_ instant: Timestamp) -> String {
    let offset = offset(at: instant.seconds)
    let minutes = offset >= 0 ? offset / 60 : -((59 - offset) / 60)
    let (clock, isTooFar) = instant.microseconds.addingReportingOverflow(Int64(minutes) * 60_000_000)
    guard !isTooFar else { return instant.iso8601 }
    let parts = [abs(minutes) / 60, abs(minutes) % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
    return Timestamp(microseconds: clock).iso8601.dropLast() + (minutes < 0 ? "-" : "+") + parts.joined(separator: ":")
  }

  /// Returns the local date of an instant, `2024-06-15`.
  public func date(_ instant: Timestamp) -> String {
    String(Timestamp(seconds: Int64(dayNumber(at: instant.seconds)) * 86_400).iso8601.prefix { $0 != "T" })
  }
}
