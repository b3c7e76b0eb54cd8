import HealthModel

/// A period of sleep samples without a gap longer than an hour. Its stages come from a single source wherever that
/// has data. The session of a ``Night`` may combine several.
public struct SleepSession: Hashable, Sendable {
  /// A part of the session in one stage.
  public struct Segment: Hashable, Sendable {
    public var start: Timestamp
    public var end: Timestamp
    public var stage: SleepStage
  }

  /// The start of the first sample and the end of the last one, of any source.
  public var start: Timestamp
  public var end: Timestamp
  /// The source of the stages, or `nil` if only the time in bed is known.
  public var source: String?
  /// The sleep stages in order, without the time in bed.
  public var segments: [Segment]
  /// The union of all sources' in-bed intervals and of ``segments``: sorted, disjoint.
  public var inBed: [Range<Timestamp>]
  /// The start of the time in bed before sleep, or `nil` if no in-bed sample shows it, so that ``latency`` is
  /// unknown.
  public var layDown: Timestamp?
  /// The totals of a night that an app reported instead of samples. ``segments`` is then empty.
  public var stated: StatedSleep?

  /// Returns the elapsed time in a stage, in seconds.
  public func duration(of stage: SleepStage) -> Double {
    if let stated { return stated.durations[stage] ?? 0 }
    if stage == .inBed { return inBed.reduce(0) { $0 + Self.seconds($1.lowerBound, $1.upperBound) } }
    return segments.reduce(0) { $1.stage == stage ? $0 + Self.seconds($1.start, $1.end) : $0 }
  }

  /// The total of all asleep stages in seconds, or `nil` (not 0) if there are none.
  public var asleep: Double? {
    if let stated { return stated.durations.reduce(0) { $1.key.isAsleep ? $0 + $1.value : $0 } }
    return onset == nil ? nil : segments.reduce(0) { $1.stage.isAsleep ? $0 + Self.seconds($1.start, $1.end) : $0 }
  }

  /// The seconds between ``onset`` and ``wake`` without any stage, or `nil` without sleep.
  public var unknown: Double? {
    guard stated == nil, let onset, let wake else { return nil }
    let told = segments.reduce(0) {
      $0 + ($1.start < wake && $1.end > onset ? Self.seconds(max($1.start, onset), min($1.end, wake)) : 0)
    }
    return max(0, Self.seconds(onset, wake) - told)
  }

  /// The start of sleep.
  public var onset: Timestamp? { stated?.times?.lowerBound ?? segments.first { $0.stage.isAsleep }?.start }

  /// The end of sleep.
  public var wake: Timestamp? { stated?.times?.upperBound ?? segments.last { $0.stage.isAsleep }?.end }

  /// The sleep onset latency: seconds from ``layDown`` to ``onset``, or `nil` without an in-bed sample or sleep.
  public var latency: Double? {
    guard let layDown, let onset else { return nil }
    return Self.seconds(layDown, onset)
  }

  /// The share of the time in bed spent asleep, from 0 to 1.
  public var efficiency: Double? {
    let inBed = duration(of: .inBed)
    return inBed > 0 ? asleep.map { $0 / inBed } : nil
  }

  /// The instant halfway between ``onset`` and ``wake``.
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
  /// The durations in seconds. Sleep without a known stage is ``SleepStage/asleepUnspecified``.
  public var durations: [SleepStage: Double]
  /// The start and end of sleep, or `nil` if the app gives only the date.
  public var times: ClosedRange<Timestamp>?
}

/// The sleep of a sleep day: the 24 hours that end in the afternoon of a date, or at a time when people with other
/// habits are awake.
public struct Night: Hashable, Sendable {
  /// The date of the sleep day in days since 1970-01-01, on which nearly all of its sleep ended.
  public var day: Int
  /// The session with the most sleep, joined with those that are no more than three hours from it or from another
  /// part of it. Nothing is known about the time between them.
  public var main: SleepSession
  /// All other sessions, in order of time.
  public var naps: [SleepSession]

  /// The total sleep including naps in seconds, or `nil` (not 0) if there is none.
  public var asleep: Double? {
    let all = ([main] + naps).compactMap(\.asleep)
    return all.isEmpty ? nil : all.reduce(0, +)
  }
}
