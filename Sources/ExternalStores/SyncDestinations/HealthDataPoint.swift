import Foundation
import HealthModel

/// A sample, or a deleted one, as HealthPush hands it to a ``SyncDestination``.
///
/// A quantity's value is in the unit of its type (`SampleTypeCatalogue.Entry.canonicalUnit`), so that all points of a
/// metric are in one unit; where it cannot be converted, in its own. What is no quantity has its duration for a value,
/// in `s`.
///
/// ```swift
/// let point = HealthDataPoint(metricType: .steps, value: 1000, unit: "count", timestamp: Date())
/// print(point.metricType.rawValue, point.value, point.deleted)  // steps 1000.0 false
/// ```
public struct HealthDataPoint: Identifiable, Hashable, Sendable {
  /// Whether a point is a sample or was computed.
  public enum Aggregation: String, Hashable, Sendable {
    /// A sample as it is.
    case raw
    /// A day's sum, which HealthPush makes of what accumulates. A record's samples are all passed on, so that no point
    /// of a
    /// ``SyncDestinationObserver`` is one.
    case sum
  }

  /// Of the record format that HealthPush writes.
  public static let schemaVersion = "1.0"

  /// Of the sample: points with the same one are the same.
  public var id: UUID
  /// What was measured.
  public var metricType: HealthMetricType
  /// In ``unit``; 0 of a deleted sample, of which it is not known any more.
  public var value: Double
  /// A HealthKit unit string; empty where there is none.
  public var unit: String
  /// When what was measured began.
  public var startDate: Date
  /// When it ended; that of ``startDate`` for a reading at one instant.
  public var endDate: Date
  /// Who wrote the sample; empty of a deleted sample of which that is not known.
  public var sourceName: String
  /// Of the app that wrote it, where that is known.
  public var sourceBundleIdentifier: String?
  /// HealthKit's number of a category's value, such as a stage of sleep; `nil` of what is no category.
  public var categoryValue: Int?
  /// `raw` of all samples.
  public var aggregation: Aggregation
  /// The sample was deleted: what was made of it must go.
  public var deleted: Bool
  /// When it was; `nil` of what was not.
  public var deletedAt: Date?

  /// With everything that HealthPush's code knows of a point.
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

// MARK: As HealthPush's guide has it

extension HealthDataPoint {
  /// ``startDate``.
  public var timestamp: Date { startDate }

  /// With what HealthPush's guide says of a point: a reading at one instant, of no source.
  public init(metricType: HealthMetricType, value: Double, unit: String, timestamp: Date) {
    self.init(
      id: UUID(), metricType: metricType, value: value, unit: unit, startDate: timestamp, endDate: timestamp,
      sourceName: "")
  }
}

// MARK: Of a record

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
