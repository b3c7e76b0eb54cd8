import Foundation
import HealthModel

/// A sample, or a deleted sample, in the form in which HealthPush passes it to a ``SyncDestination``.
///
/// The value of a quantity is in the canonical unit of its type (`SampleTypeCatalogue.Entry.canonicalUnit`), so that
/// all points of a metric have the same unit, or in its own unit if it cannot be converted. For other samples the
/// value is the duration in `s`.
///
/// ```swift
/// let point = HealthDataPoint(metricType: .steps, value: 1000, unit: "count", timestamp: Date())
/// print(point.metricType.rawValue, point.value, point.deleted)  // steps 1000.0 false
/// ```
public struct HealthDataPoint: Identifiable, Hashable, Sendable {
  /// The origin of a point, either a sample or a computation.
  public enum Aggregation: String, Hashable, Sendable {
    /// A single sample.
    case raw
    /// A daily sum, which HealthPush computes for cumulative types. A ``SyncDestinationObserver`` delivers single
    /// samples and never creates such points.
    case sum
  }

  /// The version of the record format that HealthPush writes.
  public static let schemaVersion = "1.0"

  /// The UUID of the sample. Points with equal identifiers are the same point.
  public var id: UUID
  /// The measured type.
  public var metricType: HealthMetricType
  /// The value in ``unit``, or 0 for a deleted sample, whose value is no longer known.
  public var value: Double
  /// The HealthKit unit string, empty if there is none.
  public var unit: String
  /// The start of the measurement.
  public var startDate: Date
  /// The end of the measurement, equal to ``startDate`` for an instantaneous reading.
  public var endDate: Date
  /// The name of the source, empty for a deleted sample whose source is unknown.
  public var sourceName: String
  /// The bundle identifier of the app that wrote the sample, if known.
  public var sourceBundleIdentifier: String?
  /// HealthKit's integer of a category value, such as a sleep stage, or `nil` for other samples.
  public var categoryValue: Int?
  /// The aggregation, `raw` for all samples.
  public var aggregation: Aggregation
  /// Whether the sample was deleted, so that everything derived from it must be removed.
  public var deleted: Bool
  /// The time of the deletion, or `nil` if the sample was not deleted.
  public var deletedAt: Date?

  /// Creates a point with all properties known to HealthPush's code.
  public init(
    id: UUID, metricType: HealthMetricType, value: Double, unit: String, startDate: Date, endDate: Date,
    sourceName: String, sourceBundleIdentifier: String? = nil, categoryValue: Int? = nil,
    aggregation: Aggregation = .raw, deleted: Bool = false, deletedAt: Date? = nil
  ) {
    self.id = id
    self.metricType = metricType
    self.value = value
    self.unit = unit
    self.startDate = startDate
    self.endDate = endDate
    self.sourceName = sourceName
    self.sourceBundleIdentifier = sourceBundleIdentifier
    self.categoryValue = categoryValue
    self.aggregation = aggregation
    self.deleted = deleted
    self.deletedAt = deletedAt
  }
}

// MARK: HealthPush's documented interface

extension HealthDataPoint {
  /// The time of the point, the same as ``startDate``.
  public var timestamp: Date { startDate }

  /// Creates an instantaneous point without a source, as documented in HealthPush's guide.
  public init(metricType: HealthMetricType, value: Double, unit: String, timestamp: Date) {
    self.init(
      id: UUID(), metricType: metricType, value: value, unit: unit, startDate: timestamp, endDate: timestamp,
      sourceName: "")
  }
}

// MARK: Conversion of samples

extension HealthDataPoint {
  init(_ sample: Sample) {
    let start = Date(sample.start)
    var (value, unit) = (Date(sample.end).timeIntervalSince(start), "s")
    var category: Int?
    switch sample.payload {
    case .quantity(let quantity):
      (value, unit) = (quantity.value, quantity.unit)
      if let canonical = SampleTypeCatalogue.healthKit[sample.type]?.canonicalUnit,
        let converted = UnitConversion.convert(value, from: unit, to: canonical)
      {
        (value, unit) = (converted, canonical)
      }
    case .category(let stage): category = stage.value.map { Int($0) }
    default: break
    }
    self.init(
      id: sample.uuid, metricType: HealthMetricType(sample.type), value: value, unit: unit, startDate: start,
      endDate: Date(sample.end), sourceName: sample.source.name,
      sourceBundleIdentifier: sample.source.bundleIdentifier, categoryValue: category)
  }

  init(_ tombstone: Tombstone) {
    let sample = tombstone.sample
    self.init(
      id: sample.uuid, metricType: HealthMetricType(sample.type), value: 0,
      unit: SampleTypeCatalogue.healthKit[sample.type]?.canonicalUnit ?? "", startDate: Date(sample.start),
      endDate: Date(tombstone.end ?? sample.start), sourceName: tombstone.source ?? "", deleted: true,
      deletedAt: Date(tombstone.deleted))
  }
}

extension Date {
  init(_ timestamp: Timestamp) { self.init(timeIntervalSince1970: Double(timestamp.microseconds) / 1_000_000) }
}
