/// The app readings that a query includes (docs/reference/statistics.md, "Readings of apps").
public enum ReadingRule: Hashable, Sendable {
  /// No readings, only samples.
  case none
  /// Readings of at most an hour.
  case upToAnHour
  /// All readings that are no longer than a bucket.
  case all

  /// Returns the maximum length of a reading in a bucket, in microseconds. A day on which clocks are set back has 25
  /// hours.
  func longest(in size: BucketSize) -> Int64 {
    let hour: Int64 = 3_600_000_000
    let bucket: Int64 =
      switch size {
      case .hour: hour
      case .day: 25 * hour
      case .week: 169 * hour
      case .month: 745 * hour
      case .year: 8_785 * hour
      }
    return switch self {
    case .none: 0
    case .upToAnHour: min(hour, bucket)
    case .all: bucket
    }
  }
}
