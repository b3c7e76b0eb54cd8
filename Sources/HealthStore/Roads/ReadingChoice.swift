import HealthModel

/// Decides which of several senders' readings of one period is shown: one that was said after the period had ended before one
/// that was not. Of two of those the one that says more values, then the larger number, because a device that was not with
/// the person all day adds up to less; of others the newest. All are stored and travel.
enum ReadingChoice {
  /// When a reading was said, and of what.
  struct Said {
    /// See `Sample.period`.
    let period: String
    /// Whether there could be nothing more to read of its time.
    fileprivate let isFinal: Bool
    /// In microseconds since 1970.
    fileprivate let time: Int64
    fileprivate let valueCount: Int
    fileprivate let number: Double

    /// - Parameters:
    ///   - start: in microseconds since 1970, like the other instants.
    ///   - number: as the table has it, like the others.
    init(
      start: Int64, end: Int64, created: Int64?, number: Double?, payload: String?, metadata: String?
    ) throws {
      let metadata = try metadata.map { try CanonicalJSON.decode(Metadata.self, $0) } ?? [:]
      period = Sample.period(end: Timestamp(microseconds: end), metadata)
      time = created ?? .min
      // The reading of a night has the time of one instant, of the day on which it ended, and that of a day may end now.
      let day = start.addingReportingOverflow(86_400_000_000)
      let last = end == start || Self.days.contains(period) ? max(end, day.overflow ? .max : day.partialValue) : end
      isFinal = time >= last
      valueCount = (payload.map(CanonicalJSON.leafCount(of:)) ?? 0) + (number == nil ? 0 : 1)
      self.number = number ?? -.infinity
    }

    private static let days: Set = ["day", "night"]
  }

  /// The indices of those readings of one group that are hidden.
  static func hidden(_ readings: [SecondReader.StoredSample]) -> [Int] {
    let shown = readings.indices.max { isShown(readings[$1], before: readings[$0]) }
    return readings.indices.filter { $0 != shown }
  }

  private static func isShown(_ one: SecondReader.StoredSample, before other: SecondReader.StoredSample) -> Bool {
    guard let mine = one.said, let theirs = other.said else { return one.said != nil }
    if mine.isFinal != theirs.isFinal { return mine.isFinal }
    if mine.isFinal {
      if mine.valueCount != theirs.valueCount { return mine.valueCount > theirs.valueCount }
      if mine.number != theirs.number { return mine.number > theirs.number }
    }
    return mine.time == theirs.time ? one.uuid < other.uuid : mine.time > theirs.time
  }
}
