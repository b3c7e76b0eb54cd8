import Foundation

/// A date and time of day as shown on a clock, without a time zone.
public struct CivilTime: Hashable, Sendable {
  /// The instant at which a clock in UTC shows this time.
  let inUTC: Timestamp

  /// Reads the format of ``Timestamp/init(iso8601:)`` without an offset. A date alone means its midnight.
  public init?(_ text: some StringProtocol) {
    let time = text.drop { $0 != "T" && $0 != " " }
    guard !time.contains(where: { "Z+-".contains($0) }), let instant = Timestamp(iso8601: text) else { return nil }
    inUTC = instant
  }

  /// Creates a time from a day number and a second of the day.
  ///
  /// - Parameters:
  ///   - day: days since 1970-01-01.
  ///   - second: seconds since midnight.
  public init(day: Int, second: Int) {
    inUTC = Timestamp(seconds: Int64(day) * 86_400 + Int64(second))
  }

  init(inUTC: Timestamp) {
    self.inUTC = inUTC
  }

  /// Returns the same time of day `days` days later.
  func advanced(byDays days: Int) -> CivilTime {
    CivilTime(inUTC: inUTC.advanced(bySeconds: days * 86_400))
  }

  /// Returns midnight of the date `months` months later, or of the last day of that month if it has no such day.
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
  /// Returns the instants at which clocks in this zone show `time`, in order: usually a single instant, none if
  /// clocks were set forward over it, two if clocks were set back.
  public func instants(of time: CivilTime) -> [Timestamp] {
    // No zone is more than fifteen hours from UTC, and no zone changed its clocks twice within two days.
    let offsets = Set([-86_400, 86_400].map { offset(at: time.inUTC.advanced(bySeconds: $0)) })
    return offsets.compactMap { offset in
      let instant = time.inUTC.advanced(bySeconds: -offset)
      return self.offset(at: instant) == offset ? instant : nil
    }.sorted()
  }

  /// Returns the first instant at which clocks in this zone show `time` or later. If clocks were set forward over it,
  /// this is the instant of the change; if it occurred twice, the first.
  public func first(of time: CivilTime) -> Timestamp {
    instants(of: time).first ?? change(over: time)
  }

  /// Returns the first instant from which clocks in this zone no longer show anything earlier than `time`. If it
  /// occurred twice, this is the second.
  public func last(of time: CivilTime) -> Timestamp {
    instants(of: time).last ?? change(over: time)
  }

  /// Returns the instant at which clocks were set forward over `time`.
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

  /// Returns the UTC offset in seconds east of UTC.
  func offset(at instant: Timestamp) -> Int {
    // Clamp to the years 1 to 9999, because time zone rules are meaningless beyond them.
    let seconds = min(max(instant.seconds, -62_135_596_800), 253_402_300_799)
    return secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
  }
}

extension Timestamp {
  /// Returns the instant `seconds` later, clamped to the range of ``Timestamp``.
  func advanced(bySeconds seconds: Int) -> Timestamp {
    let (sum, overflow) = microseconds.addingReportingOverflow(Timestamp(seconds: Int64(seconds)).microseconds)
    return Timestamp(microseconds: overflow ? (seconds < 0 ? .min : .max) : sum)
  }
}
