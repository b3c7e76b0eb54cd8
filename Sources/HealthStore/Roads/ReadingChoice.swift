import HealthModel

/// Decides which of several senders' readings of one period is shown: one that was said after the period had ended before one
/// that was not, then the newest, then by UUID. All are stored and travel.
enum ReadingChoice {
  /// When a reading was said, and of what.
  struct Said {
    /// See `Sample.period`.
    let period: String
    /// Whether there could be nothing more to read of its time.
    fileprivate let isFinal: Bool
    /// In microseconds since 1970.
    fileprivate let time: Int64

    /// - Parameters:
    ///   - start: in microseconds since 1970, like the other instants.
    ///   - metadata: as the table has it.
    init(start: Int64, end: Int64, created: Int64?, metadata: String?) throws {
      let metadata = try metadata.map { try CanonicalJSON.decode(Metadata.self, $0) } ?? [:]
      period = Sample.period(end: Timestamp(microseconds: end), metadata)
      time = created ?? .min
      // The reading of a night has the time of one instant, of the day on which it ended, and that of a day may end now.
      let day = start.addingReportingOverflow(86_400_000_000)
      let last = end == start || Self.days.contains(period) ? max(end, day.overflow ? .max : day.partialValue) : end
      isFinal = time >= last
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
    return mine.time == theirs.time ? one.uuid < other.uuid : mine.time > theirs.time
  }
}
