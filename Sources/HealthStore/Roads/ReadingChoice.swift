import HealthModel

/// The choice of the reading that is shown among several senders' readings of one period. A reading from after the
/// end of the period precedes others. Among such readings, the one with more values precedes, then the one with the
/// larger number, because a device that was not worn all day has a lower sum. Among all others, the newest precedes.
/// All are stored and sent to peers.
enum ReadingChoice {
  /// The time and period of a reading, and the size of its content.
  struct Said {
    /// The period; see `Sample.period`.
    let period: String
    /// Whether the reading was made after its period had ended.
    fileprivate let isFinal: Bool
    /// The time of the reading in microseconds since 1970.
    fileprivate let time: Int64
    fileprivate let valueCount: Int
    fileprivate let number: Double

    /// Creates the data from the columns of a row.
    ///
    /// - Parameters:
    ///   - start: in microseconds since 1970, like the other times.
    ///   - number: as in the table, like the other values.
    init(
      start: Int64, end: Int64, created: Int64?, number: Double?, payload: String?, metadata: String?
    ) throws {
      let metadata = try metadata.map { try CanonicalJSON.decode(Metadata.self, $0) } ?? [:]
      period = Sample.period(end: Timestamp(microseconds: end), metadata)
      time = created ?? .min
      // A night's reading has the start of the day on which it ended as its only time, and a day's reading may end
      // now.
      let day = start.addingReportingOverflow(86_400_000_000)
      let last = end == start || Self.days.contains(period) ? max(end, day.overflow ? .max : day.partialValue) : end
      isFinal = time >= last
      valueCount = (payload.map(CanonicalJSON.leafCount(of:)) ?? 0) + (number == nil ? 0 : 1)
      self.number = number ?? -.infinity
    }

    private static let days: Set = ["day", "night"]
  }

  /// Returns the indices of the hidden readings of one group.
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
