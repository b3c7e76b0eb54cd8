/// The type of a sample, named by its HealthKit identifier (`HKQuantityTypeIdentifierStepCount`).
///
/// Any identifier is a valid type: one that the catalogue does not know is stored and passed on under its own name.
public struct SampleType: RawRepresentable, Hashable, Sendable, Comparable {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// As ``init(rawValue:)``; the identifier is neither looked up nor changed.
  public init(_ identifier: String) {
    self.init(rawValue: identifier)
  }

  public static func < (lhs: Self, rhs: Self) -> Bool {
    lhs.rawValue < rhs.rawValue
  }
}

extension SampleType {
  /// `HKWorkoutTypeIdentifier`, the one type of all workouts.
  public static let workout = Self("HKWorkoutTypeIdentifier")
  /// `HKActivitySummaryTypeIdentifier`: one day's activity rings.
  public static let activitySummary = Self("HKActivitySummaryTypeIdentifier")
  /// `HKWorkoutRouteTypeIdentifier`: where a workout went.
  public static let workoutRoute = Self("HKWorkoutRouteTypeIdentifier")
  /// `HKDataTypeIdentifierElectrocardiogram`.
  public static let electrocardiogram = Self("HKDataTypeIdentifierElectrocardiogram")
}

extension SampleType: CustomStringConvertible {
  public var description: String { rawValue }
}

extension SampleType: Codable {
  public init(from decoder: any Decoder) throws {
    rawValue = try decoder.singleValueContainer().decode(String.self)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(rawValue)
  }
}
