import HealthModel

/// A stretch of time of which sleep samples were recorded with no gap longer than an hour, told by one source wherever it
/// says something. That of a night may be several, see ``Night``.
public struct SleepSession: Hashable, Sendable {
  /// A part of the session in one stage.
  public struct Segment: Hashable, Sendable {
    public var start: Timestamp
    public var end: Timestamp
    public var stage: SleepStage
  }

  /// Of the first sample, and the last; of all sources.
  public var start: Timestamp
  public var end: Timestamp
  /// The source that tells the stages; `nil` where all there is is the time in bed.
  public var source: String?
  /// What was slept when, in order; without the time in bed.
  public var segments: [Segment]
  /// The union of all sources' in-bed intervals and of ``segments``: sorted, disjoint.
  public var inBed: [Range<Timestamp>]
  /// The beginning of ``inBed`` before sleep, where an in-bed sample says it; without one ``latency`` is not known.
  public var layDown: Timestamp?
  /// The sums that an app has sent of a night that no sample tells; ``segments`` is empty then.
  public var stated: StatedSleep?

  /// In seconds of elapsed time.
  public func duration(of stage: SleepStage) -> Double {
    if let stated { return stated.durations[stage] ?? 0 }
    if stage == .inBed { return inBed.reduce(0) { $0 + Self.seconds($1.lowerBound, $1.upperBound) } }
    return segments.reduce(0) { $1.stage == stage ? $0 + Self.seconds($1.start, $1.end) : $0 }
  }

  /// The sum of all asleep stages in seconds; `nil` without any, which is not 0.
  public var asleep: Double? {
    if let stated { return stated.durations.reduce(0) { $1.key.isAsleep ? $0 + $1.value : $0 } }
    return onset == nil ? nil : segments.reduce(0) { $1.stage.isAsleep ? $0 + Self.seconds($1.start, $1.end) : $0 }
  }

  /// Seconds between ``onset`` and ``wake`` of which nothing is said; `nil` without sleep.
  public var unknown: Double? {
    guard stated == nil, let onset, let wake else { return nil }
    let told = segments.reduce(0) {
      $0 + ($1.start < wake && $1.end > onset ? Self.seconds(max($1.start, onset), min($1.end, wake)) : 0)
    }
    return max(0, Self.seconds(onset, wake) - told)
  }

  /// When sleep began.
  public var onset: Timestamp? { stated?.times?.lowerBound ?? segments.first { $0.stage.isAsleep }?.start }

  /// When it ended for the last time.
  public var wake: Timestamp? { stated?.times?.upperBound ?? segments.last { $0.stage.isAsleep }?.end }

  /// Sleep onset latency: seconds from ``layDown`` to ``onset``; `nil` without an in-bed sample or sleep.
  public var latency: Double? {
    guard let layDown, let onset else { return nil }
    return Self.seconds(layDown, onset)
  }

  /// The share of the time in bed that was slept, from 0 to 1.
  public var efficiency: Double? {
    let inBed = duration(of: .inBed)
    return inBed > 0 ? asleep.map { $0 / inBed } : nil
  }

  /// Halfway between ``onset`` and ``wake``.
  public var midpoint: Timestamp? {
    guard let onset, let wake else { return nil }
    return Timestamp(microseconds: onset.microseconds / 2 + wake.microseconds / 2)
  }

  private static func seconds(_ start: Timestamp, _ end: Timestamp) -> Double {
    let (microseconds, isTooLong) = end.microseconds.subtractingReportingOverflow(start.microseconds)
    return isTooLong ? 0x1p63 / 500_000 : Double(microseconds) / 1_000_000
  }
}

/// The totals of a night as an app reported them, without the times of its stages.
public struct StatedSleep: Hashable, Sendable {
  /// In seconds; what no stage was told of is ``SleepStage/asleepUnspecified``.
  public var durations: [SleepStage: Double]
  /// When sleep began and ended; `nil` where the app tells the date only.
  public var times: ClosedRange<Timestamp>?
}

/// The sleep of one sleep day: of the 24 hours that end in the afternoon of a date, or whenever somebody with other habits is
/// awake.
public struct Night: Hashable, Sendable {
  /// Days since 1970-01-01 of the date of the sleep day, on which nearly all sleep of it ended.
  public var day: Int
  /// The session with the most sleep, and those that are no more than three hours from it, or from another of them. Of what lies
  /// between them nothing is said.
  public var main: SleepSession
  /// All others, in order of time.
  public var naps: [SleepSession]

  /// All that was slept, naps included, in seconds; `nil` without any sleep, which is not 0.
  public var asleep: Double? {
    let all = ([main] + naps).compactMap(\.asleep)
    return all.isEmpty ? nil : all.reduce(0, +)
  }
}
