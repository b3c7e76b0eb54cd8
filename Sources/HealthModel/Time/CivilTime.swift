import Foundation

/// A date and a time of day as a clock on a wall shows them, in whatever zone that hangs.
public struct CivilTime: Hashable, Sendable {
  /// The instant at which a clock in UTC shows it.
  let inUTC: Timestamp

  /// Reads what ``Timestamp/init(iso8601:)`` does, without an offset; a date alone is its midnight.
  public init?(_ text: some StringProtocol) {
    let time = text.drop { $0 != "T" && $0 != " " }
    guard !time.contains(where: { "Z+-".contains($0) }), let instant = Timestamp(iso8601: text) else { return nil }
    inUTC = instant
  }

  /// - Parameters:
  ///   - day: since 1970-01-01.
  ///   - second: of the day, from 0.
  public init(day: Int, second: Int) {
    inUTC = Timestamp(seconds: Int64(day) * 86_400 + Int64(second))
  }

  init(inUTC: Timestamp) {
    self.inUTC = inUTC
  }

  /// The same time of day so many days later.
  func advanced(byDays days: Int) -> CivilTime {
    CivilTime(inUTC: inUTC.advanced(bySeconds: days * 86_400))
  }

  /// The date so many months later, or the last of its month where that has no such day; at midnight.
  func advanced(byMonths months: Int) -> CivilTime {
    let (year, month, day, _, _, _, _) = inUTC.civil
    let count = year * 12 + month - 1 + months
    let first = (year: count >= 0 ? count / 12 : (count - 11) / 12, month: (count % 12 + 12) % 12 + 1)
    let last = Timestamp.daysInMonth(first.month, year: first.year)
    let days = Timestamp.daysFromCivil(year: first.year, month: first.month, day: min(day, last))
    return CivilTime(inUTC: Timestamp(seconds: Int64(days) * 86_400))
  }
}

// MARK: - Clocks that go forward and back

extension TimeZone {
  /// When clocks here show `time`: once as a rule, never where they were put forward over it, twice where they were put
  /// back. In order.
  public func instants(of time: CivilTime) -> [Timestamp] {
    // No clock is further than fifteen hours from UTC, and none was ever put twice within two days.
    let offsets = Set([-86_400, 86_400].map { offset(at: time.inUTC.advanced(bySeconds: $0)) })
    return offsets.compactMap { offset in
      let instant = time.inUTC.advanced(bySeconds: -offset)
      return self.offset(at: instant) == offset ? instant : nil
    }.sorted()
  }

  /// The first instant at which clocks here show `time` or later. Where they were put forward over it, the instant at
  /// which that was done; where it was twice, the first.
  public func first(of time: CivilTime) -> Timestamp {
    instants(of: time).first ?? change(over: time)
  }

  /// The first instant after which clocks here show nothing earlier than `time` any more. Where it was twice, the second.
  public func last(of time: CivilTime) -> Timestamp {
    instants(of: time).last ?? change(over: time)
  }

  /// When clocks were put forward over `time`.
  private func change(over time: CivilTime) -> Timestamp {
    let offsets = [-86_400, 86_400].map { offset(at: time.inUTC.advanced(bySeconds: $0)) }
    var before = time.inUTC.seconds - Int64(offsets[1])
    var after = time.inUTC.seconds - Int64(offsets[0])
    while before + 1 < after {
      let middle = before + (after - before) / 2
      if offset(at: Timestamp(seconds: middle)) == offsets[0] { before = middle } else { after = middle }
    }
    return Timestamp(seconds: after)
  }

  /// Seconds east of UTC.
  func offset(at instant: Timestamp) -> Int {
    // The years 1 to 9999: rules for others are nobody's.
    let seconds = min(max(instant.seconds, -62_135_596_800), 253_402_300_799)
    return secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
  }
}

extension Timestamp {
  /// Held at the first or last instant there is.
  func advanced(bySeconds seconds: Int) -> Timestamp {
    let (sum, overflow) = microseconds.addingReportingOverflow(Timestamp(seconds: Int64(seconds)).microseconds)
    return Timestamp(microseconds: overflow ? (seconds < 0 ? .min : .max) : sum)
  }
}
