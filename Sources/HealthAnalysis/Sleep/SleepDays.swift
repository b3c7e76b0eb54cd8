import HealthModel

/// Divides sleep into sleep days, each of which has a night, and perhaps naps.
///
/// A sleep day of a date is the 24 hours that end on it, twelve hours from the middle of what is usual: at 15:00, or by the
/// median of the middles of the longest sessions of the 28 days before, so that the night of any habit lies whole in one.
struct SleepDays {
  /// Days before, whose longest sessions say when a sleep day ends.
  static let window = 28
  /// Fewer of them say nothing.
  private static let fewest = 7
  /// Seconds of a clock.
  private static let usualEnd = 15 * 3600
  private static let halfDay = 43_200
  /// Sessions no further apart are of one night, in microseconds.
  private static let longestPause: Int64 = 3 * 3600 * 1_000_000
  /// No session of more is divided, in microseconds: nobody sleeps so long.
  private static let mostDivided: Int64 = 48 * 3600 * 1_000_000

  private let zone: ZoneRules
  /// What clocks showed in the middle of the longest session of a date, in seconds; by the date on which it ended.
  private let middles: [Int: Int]

  /// - Parameter sessions: in order of time.
  init(of sessions: [SleepSession], in zone: ZoneRules) {
    self.zone = zone
    let dates = Dictionary(grouping: sessions) { zone.dayNumber(at: ($0.wake ?? $0.end).seconds) }
    middles = dates.compactMapValues { sessions in
      Self.longest(sessions).map { zone.clock(at: sessions[$0].middle.seconds) }
    }
  }

  /// In order of time.
  func nights(of sessions: [SleepSession]) -> [Night] {
    var days: [Int: [SleepSession]] = [:]
    for session in sessions {
      for (day, part) in parts(of: session) { days[day, default: []].append(part) }
    }
    return days.sorted { $0.key < $1.key }.compactMap { Self.night($0, $1) }
  }

  /// The night of a sleep day is its longest session, with those that lie no further from it, or from another part of it, than
  /// three hours.
  private static func night(_ day: Int, _ sessions: [SleepSession]) -> Night? {
    guard let longest = longest(sessions) else { return nil }
    var (first, last) = (longest, longest)
    while first > 0, isPause(sessions[first - 1].end, sessions[first].start) { first -= 1 }
    while last + 1 < sessions.count, isPause(sessions[last].end, sessions[last + 1].start) { last += 1 }
    var main = sessions[longest]
    for index in first...last where index != longest { main.add(sessions[index]) }
    return Night(day: day, main: main, naps: Array(sessions[..<first] + sessions[(last + 1)...]))
  }

  private static func isPause(_ end: Timestamp, _ start: Timestamp) -> Bool {
    let (pause, isTooLong) = start.microseconds.subtractingReportingOverflow(end.microseconds)
    return !isTooLong && pause <= longestPause
  }

  /// The index of the session with the most sleep; of equal ones the longer in bed, and then the first.
  private static func longest(_ sessions: [SleepSession]) -> Int? {
    sessions.indices.max { one, other in
      let (a, b) = (sessions[one], sessions[other])
      return (a.asleep ?? -1, a.duration(of: .inBed), -one) < (b.asleep ?? -1, b.duration(of: .inBed), -other)
    }
  }

  // MARK: Where sleep days end

  /// What of a session lies in which sleep day: nearly always all in one. A sum that is divided where a sleep day ends changes
  /// by no more than what is slept, wherever the session lies.
  private func parts(of session: SleepSession) -> [(day: Int, part: SleepSession)] {
    let last = day(at: Timestamp(microseconds: max(session.start.microseconds, session.end.microseconds - 1)))
    let (length, isTooLong) = session.end.microseconds.subtractingReportingOverflow(session.start.microseconds)
    if isTooLong || length > Self.mostDivided { return [(last, session)] }
    return (day(at: session.start)...last).compactMap { day in
      session.part(in: end(of: day - 1)..<end(of: day)).map { (day, $0) }
    }
  }

  /// The sleep day in which an instant lies.
  private func day(at instant: Timestamp) -> Int {
    let date = zone.dayNumber(at: instant.seconds)
    return instant < end(of: date) ? date : date + 1
  }

  private func end(of day: Int) -> Timestamp {
    let start = zone.start(ofDay: day)
    let before = (1...Self.window).compactMap { middles[day - $0] }
    let clock = before.count < Self.fewest ? Self.usualEnd : (Self.median(before) + Self.halfDay) % 86_400
    // Where clocks are changed on that day, they show the same.
    let instant = start + Int64(clock)
    return Timestamp(seconds: instant + Int64(zone.offset(at: start) - zone.offset(at: instant)))
  }

  /// The median of times of the day, in seconds; the day begins in the longest stretch without any.
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
  /// What clocks show, in seconds since midnight.
  fileprivate func clock(at seconds: Int64) -> Int {
    let local = (Int(seconds % 86_400) + offset(at: seconds)) % 86_400
    return local < 0 ? local + 86_400 : local
  }
}

extension SleepSession {
  /// ``midpoint``, or without sleep that of all.
  fileprivate var middle: Timestamp {
    midpoint ?? Timestamp(microseconds: start.microseconds / 2 + end.microseconds / 2)
  }

  /// What of it lies in a time; `nil` where nothing does.
  fileprivate func part(in range: Range<Timestamp>) -> SleepSession? {
    if range.lowerBound <= start, end <= range.upperBound { return self }
    var part = self
    (part.start, part.end) = (max(start, range.lowerBound), min(end, range.upperBound))
    guard part.start < part.end else { return nil }
    part.segments = segments.compactMap { segment in
      let times = (start: max(segment.start, range.lowerBound), end: min(segment.end, range.upperBound))
      return times.start < times.end ? Segment(start: times.start, end: times.end, stage: segment.stage) : nil
    }
    part.inBed = inBed.map { $0.clamped(to: range) }.filter { !$0.isEmpty }
    // Of when somebody lay down, the later part says nothing.
    part.saysInBed = saysInBed && range.lowerBound <= start
    if part.segments.isEmpty { part.source = nil }
    return part
  }

  /// Takes another session in, which lies before it or after it.
  fileprivate mutating func add(_ other: SleepSession) {
    let isLater = other.start >= end
    segments = isLater ? segments + other.segments : other.segments + segments
    inBed = isLater ? inBed + other.inBed : other.inBed + inBed
    (start, end) = (min(start, other.start), max(end, other.end))
    source = source ?? other.source
    if !isLater || other.saysInBed && onset == nil { saysInBed = other.saysInBed }
  }
}
