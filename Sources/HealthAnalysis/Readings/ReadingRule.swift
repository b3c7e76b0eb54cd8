/// Which readings of apps a question counts (docs/reference/statistics.md, "Readings of apps").
public enum ReadingRule: Hashable, Sendable {
  /// None: samples alone.
  case none
  /// Those of an hour or less.
  case upToAnHour
  /// All that are no longer than a bucket.
  case all

  /// The longest reading that counts in a bucket, in microseconds. A day of the clock's change has 25 hours.
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
