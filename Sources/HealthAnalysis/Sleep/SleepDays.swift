import HealthModel

/// The division of sleep sessions into sleep days, each with a night and its naps.
///
/// The sleep day of a date is the 24 hours that end at 15:00 on it. If at least seven of the 28 days before have sleep, it ends
/// twelve hours after the median midpoint of their longest sessions instead, so that a night of any habit lies whole in one
/// sleep day. For people who sleep by day it ends after midnight: sleep has the date on which it ends.
struct SleepDays {
  /// The number of days before a sleep day whose longest sessions determine its end.
  static let window = 28
  /// The least number of those days with sleep for a median.
  private static let fewest = 7
  /// The default end of a sleep day, in seconds since midnight.
  private static let usualEnd = 15 * 3600
  private static let halfDay = 43_200
  /// The time of day, in seconds since midnight, from which a midpoint belongs to the next date. Few people have one near it,
  /// so that the end of a sleep day rarely moves from one side to the other.
  private static let turn = 20 * 3600
  /// Sessions no further apart are of one night, in microseconds.
  private static let longestPause: Int64 = 3 * 3600 * 1_000_000

  private let zone: ZoneRules
  /// The local time of day of the midpoint of the longest session, in seconds since midnight, by the date of its end.
  private let middles: [Int: Int]

  /// Creates sleep days from sessions.
  ///
  /// - Parameter sessions: in order of time.
  init(of sessions: [SleepSession], in zone: ZoneRules) {
    self.zone = zone
    // An in-bed period of several days has no meaningful midpoint.
    let dates = Dictionary(grouping: sessions.filter(\.isShort)) { zone.dayNumber(at: ($0.wake ?? $0.end).seconds) }
    middles = dates.compactMapValues { sessions in
      Self.longest(sessions).map { zone.clock(at: sessions[$0].middle.seconds) }
    }
  }

  /// Returns the nights in order of time.
  func nights(of sessions: [SleepSession]) -> [Night] {
    var days: [Int: [SleepSession]] = [:]
    for session in sessions {
      for (day, part) in parts(of: session) where !part.isEmpty { days[day, default: []].append(part) }
    }
    return days.sorted { $0.key < $1.key }.compactMap { Self.night($0, $1) }
  }

  /// Returns the night of a sleep day: its longest session together with the sessions that follow or precede it, or
  /// another part of it, at an interval of at most three hours.
  private static func night(_ day: Int, _ sessions: [SleepSession]) -> Night? {
    guard let longest = longest(sessions) else { return nil }
    var (first, last) = (longest, longest)
    while first > 0, isPause(sessions[first - 1].end, sessions[first].start) { first -= 1 }
    while last + 1 < sessions.count, isPause(sessions[last].end, sessions[last + 1].start) { last += 1 }
    let main = SleepSession(joining: sessions[first...last], toldBy: sessions[longest].source)
    return Night(day: day, main: main, naps: Array(sessions[..<first] + sessions[(last + 1)...]))
  }

  private static func isPause(_ end: Timestamp, _ start: Timestamp) -> Bool {
    let (pause, isTooLong) = start.microseconds.subtractingReportingOverflow(end.microseconds)
    return !isTooLong && pause <= longestPause
  }

  /// Returns the index of the session with the most sleep; among equals the one with the longest time in bed, then
  /// the first.
  private static func longest(_ sessions: [SleepSession]) -> Int? {
    sessions.indices.max { one, other in
      let (a, b) = (sessions[one], sessions[other])
      return (a.asleep ?? -1, a.duration(of: .inBed), -one) < (b.asleep ?? -1, b.duration(of: .inBed), -other)
    }
  }

  // MARK: Where sleep days end

  /// Returns the parts of a session by sleep day, which is nearly always a single day. If a sleep day ends during the
  /// session, it is split there, so that the total sleep does not change.
  private func parts(of session: SleepSession) -> [(day: Int, part: SleepSession)] {
    var (day, begin, parts) = (day(at: session.start), session.start, [(day: Int, part: SleepSession)]())
    while true {
      let end = end(of: day)
      if session.end <= end { return parts + [(day, session.part(in: begin..<max(begin, session.end)))] }
      if begin < end { parts.append((day, session.part(in: begin..<end))) }
      (day, begin) = (day + 1, max(begin, end))
    }
  }

  /// Returns the sleep day that contains an instant.
  private func day(at instant: Timestamp) -> Int {
    var day = zone.dayNumber(at: instant.seconds) - 1
    while instant >= end(of: day) { day += 1 }
    return day
  }

  /// Returns the end of a sleep day, which is never before that of the previous day.
  private func end(of day: Int) -> Timestamp {
    let before = (1...Self.window).compactMap { middles[day - $0] }
    if before.count < Self.fewest { return zone.instant(Self.usualEnd, ofDay: day) }
    let median = Self.median(before)
    let end = (median < Self.turn ? median : median - 2 * Self.halfDay) + Self.halfDay
    return zone.instant(end % (2 * Self.halfDay), ofDay: day + end / (2 * Self.halfDay))
  }

  /// Returns the median of times of day in seconds. The circle is cut in the longest gap between them.
  static func median(_ clocks: [Int]) -> Int {
    let sorted = clocks.sorted()
    let gaps = sorted.indices.map { index in
      index + 1 < sorted.count ? sorted[index + 1] - sorted[index] : sorted[0] + 86_400 - sorted[index]
    }
    guard let widest = gaps.indices.max(by: { gaps[$0] < gaps[$1] }) else { return 0 }
    let turned = sorted[(widest + 1)...] + sorted[...widest].map { $0 + 86_400 }
    let values = Array(turned)
    return (values[(values.count - 1) / 2] + values[values.count / 2]) / 2 % 86_400
  }
}

extension ZoneRules {
  /// Returns the time on the clock, in seconds since midnight.
  fileprivate func clock(at seconds: Int64) -> Int {
    let local = (Int(seconds % 86_400) + offset(at: seconds)) % 86_400
    return local < 0 ? local + 86_400 : local
  }

  /// Returns the instant at which clocks show a time on a date, or the nearest instant within the date if they never
  /// do.
  fileprivate func instant(_ clock: Int, ofDay number: Int) -> Timestamp {
    let day = day(number)
    let local = Int64(number) * 86_400 + Int64(clock)
    let guess = local - Int64(offset(at: local))
    let instant = local - Int64(offset(at: guess))
    return Timestamp(seconds: min(max(instant, day.lowerBound), day.upperBound))
  }
}

extension SleepSession {
  /// The ``midpoint``, or the midpoint of the whole session if it has no sleep.
  fileprivate var middle: Timestamp {
    midpoint ?? Timestamp(microseconds: start.microseconds / 2 + end.microseconds / 2)
  }

  /// Returns the part of the session in a range of time.
  fileprivate func part(in range: Range<Timestamp>) -> SleepSession {
    if range.lowerBound <= start, end <= range.upperBound { return self }
    var part = self
    (part.start, part.end) = (max(start, range.lowerBound), min(end, range.upperBound))
    part.segments = segments.overlapping(range, \.start, \.end).map { segment in
      Segment(
        start: max(segment.start, range.lowerBound), end: min(segment.end, range.upperBound), stage: segment.stage)
    }
    part.inBed = inBed.overlapping(range, \.lowerBound, \.upperBound).map { $0.clamped(to: range) }
    // The start of lying down is unknown for a later part.
    if range.lowerBound > start { part.layDown = nil }
    if part.segments.isEmpty { part.source = nil }
    return part
  }

  /// Whether it is no longer than the maximum length of a sample.
  fileprivate var isShort: Bool {
    let (length, isTooLong) = end.microseconds.subtractingReportingOverflow(start.microseconds)
    return !isTooLong && length < SleepSessions.longest
  }

  /// Whether the part has no content. At a boundary, segments of another source shorter than an hour may be missing.
  fileprivate var isEmpty: Bool { segments.isEmpty && inBed.isEmpty }

  /// Creates a session from consecutive sessions in order of time.
  fileprivate init(joining sessions: ArraySlice<SleepSession>, toldBy source: String?) {
    self = sessions[sessions.startIndex]
    for other in sessions.dropFirst() {
      // The last lie-down before sleep determines the latency.
      if onset == nil { layDown = other.layDown }
      segments += other.segments
      inBed += other.inBed
      end = max(end, other.end)
    }
    self.source = source
  }
}
