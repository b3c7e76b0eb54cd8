import HealthAnalysis
import HealthModel

/// Which numbers ``ExportFormat/statisticsCSV`` and ``ExportFormat/statisticsJSON`` hold, and how they are laid out.
public struct StatisticsForm: Sendable {
  public enum Shape: String, Sendable, CaseIterable {
    /// Bucket by bucket of type after type, with all that is known of each.
    case long
    /// Bucket by bucket, with the sum, or mean and extremes, of all types.
    case wide
  }

  public var size: BucketSize
  public var zone: ZoneRules
  public var weekStartsOnSunday: Bool
  public var shape: Shape
  /// Whether buckets that no sample touched are there, too, with nothing in the place of numbers.
  public var fillsGaps: Bool
  /// A bucket that it lies in is partial.
  let now = Timestamp.now

  static var daysInUTC: StatisticsForm { StatisticsForm(in: ZoneRules(offset: 0, name: "UTC")) }

  /// - Parameter zone: whose days these are.
  public init(
    by size: BucketSize = .day, in zone: ZoneRules, weekStartsOnSunday: Bool = false, shape: Shape = .long,
    fillsGaps: Bool = false
  ) {
    (self.size, self.zone, self.weekStartsOnSunday) = (size, zone, weekStartsOnSunday)
    (self.shape, self.fillsGaps) = (shape, fillsGaps)
  }
}
