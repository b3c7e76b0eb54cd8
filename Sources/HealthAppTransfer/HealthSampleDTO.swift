import HealthModel

/// How an instant is written for HealthAppTransfer's clients.
public enum DateSpelling: String, Sendable, CaseIterable {
  /// `2024-06-15T10:30:00Z`, as the app's own server writes it.
  case iso8601
  /// Seconds since 2001-01-01T00:00:00Z as a number, the only form that the shipping Mac client can read.
  case reference
}

/// A sample as HealthAppTransfer's clients decode it: `TransferSample` of `openapi.yaml`. Members that are `nil` are
/// left out.
public struct HealthSampleDTO: Sendable, Hashable {
  /// Upper-case UUID.
  public var id: String
  /// The catalogue's short name: `heartRate`.
  public var type: String
  /// Cut to whole seconds where ``dates`` is ISO 8601.
  public var start: Timestamp
  /// Cut as ``start``.
  public var end: Timestamp
  /// ``Source/name``, byte for byte.
  public var sourceName: String
  /// ``Source/bundleIdentifier``; left out where the source has none.
  public var sourceBundleIdentifier: String?
  /// Of a quantity, in ``unit``; finite.
  public var value: Double?
  /// The catalogue's canonical unit of the type, where the value converts to it.
  public var unit: String?
  /// Of a category: HealthKit's integer.
  public var categoryValue: Int64?
  /// Raw value of `HKWorkoutActivityType`; 3000 (other) for an activity without one.
  public var workoutActivityType: UInt?
  /// Of a workout: seconds.
  public var workoutDuration: Double?
  /// Of a workout: kilocalories.
  public var workoutTotalEnergyBurned: Double?
  /// Of a workout: metres.
  public var workoutTotalDistance: Double?
  /// Of a correlation, by the member's short name; a blood pressure has `systolic` and `diastolic`.
  public var correlationValues: [String: Double]?
  /// The metadata as a JSON object in a string.
  public var metadataJSON: String?
  /// How ``start`` and ``end`` are encoded; not a field.
  public var dates: DateSpelling

  /// A sample without any value; they are set one by one.
  public init(
    id: String, type: String, start: Timestamp, end: Timestamp, sourceName: String, dates: DateSpelling
  ) {
    self.id = id
    self.type = type
    self.start = start
    self.end = end
    self.sourceName = sourceName
    self.dates = dates
  }
}

extension HealthSampleDTO: Encodable {
  private enum Key: String, CodingKey {
    case id, type, startDate, endDate, sourceName, sourceBundleIdentifier, value, unit, categoryValue
    case workoutActivityType, workoutDuration, workoutTotalEnergyBurned, workoutTotalDistance, correlationValues
    case metadataJSON
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(id, forKey: .id)
    try object.encode(type, forKey: .type)
    for (instant, key) in [(start, Key.startDate), (end, .endDate)] {
      switch dates {
      // Whole seconds: the app writes no fraction, and its decoder on older systems refuses one.
      case .iso8601: try object.encode(Timestamp(seconds: instant.seconds).iso8601, forKey: key)
      case .reference: try object.encode(Double(instant.microseconds) / 1_000_000 - 978_307_200, forKey: key)
      }
    }
    try object.encode(sourceName, forKey: .sourceName)
    try object.encodeIfPresent(sourceBundleIdentifier, forKey: .sourceBundleIdentifier)
    try object.encodeIfPresent(value, forKey: .value)
    try object.encodeIfPresent(unit, forKey: .unit)
    try object.encodeIfPresent(categoryValue, forKey: .categoryValue)
    try object.encodeIfPresent(workoutActivityType, forKey: .workoutActivityType)
    try object.encodeIfPresent(workoutDuration, forKey: .workoutDuration)
    try object.encodeIfPresent(workoutTotalEnergyBurned, forKey: .workoutTotalEnergyBurned)
    try object.encodeIfPresent(workoutTotalDistance, forKey: .workoutTotalDistance)
    try object.encodeIfPresent(correlationValues, forKey: .correlationValues)
    try object.encodeIfPresent(metadataJSON, forKey: .metadataJSON)
  }
}
