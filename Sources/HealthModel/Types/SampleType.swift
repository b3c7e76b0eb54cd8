/// The type of a sample, named by its HealthKit identifier (`HKQuantityTypeIdentifierStepCount`).
///
/// Any identifier is a valid type: one that the catalogue does not know is stored and passed on under its own name.
public struct SampleType: RawRepresentable, Hashable, Sendable, Comparable {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Creates a type from an identifier, like ``init(rawValue:)``. The identifier is neither validated nor changed.
  public init(_ identifier: String) {
    self.init(rawValue: identifier)
  }

  public static func < (lhs: Self, rhs: Self) -> Bool {
    lhs.rawValue < rhs.rawValue
  }
}

extension SampleType {
  /// The type of all workouts, `HKWorkoutTypeIdentifier`.
  public static let workout = Self("HKWorkoutTypeIdentifier")
  /// The type of a day's activity rings, `HKActivitySummaryTypeIdentifier`.
  public static let activitySummary = Self("HKActivitySummaryTypeIdentifier")
  /// The type of workout routes, `HKWorkoutRouteTypeIdentifier`.
  public static let workoutRoute = Self("HKWorkoutRouteTypeIdentifier")
  /// The type of electrocardiograms, `HKDataTypeIdentifierElectrocardiogram`.
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
