import HealthModel

/// The format of dates for HealthAppTransfer's clients.
public enum DateSpelling: String, Sendable, CaseIterable {
  /// The format of the app's own server: `2024-06-15T10:30:00Z`.
  case iso8601
  /// A number of seconds since 2001-01-01T00:00:00Z, the only format that the released Mac client reads.
  case reference
}

/// A sample as HealthAppTransfer's clients decode it: `TransferSample` in `openapi.yaml`. Members that are `nil` are
/// omitted.
public struct HealthSampleDTO: Sendable, Hashable {
  /// The UUID in upper case.
  public var id: String
  /// The catalogue's short name: `heartRate`.
  public var type: String
  /// The start, truncated to whole seconds if ``dates`` is ISO 8601.
  public var start: Timestamp
  /// The end, truncated like ``start``.
  public var end: Timestamp
  /// The source's name, byte for byte (``Source/name``).
  public var sourceName: String
  /// The source's bundle identifier (``Source/bundleIdentifier``), omitted if there is none.
  public var sourceBundleIdentifier: String?
  /// The value of a quantity in ``unit``, always finite.
  public var value: Double?
  /// The canonical unit of the type if the value converts to it, otherwise the value's own unit.
  public var unit: String?
  /// The value of a category, HealthKit's integer.
  public var categoryValue: Int64?
  /// The raw value of `HKWorkoutActivityType`, or 3000 (other) for an activity without a known value.
  public var workoutActivityType: UInt?
  /// The duration of a workout in seconds.
  public var workoutDuration: Double?
  /// The energy burned in a workout in kilocalories.
  public var workoutTotalEnergyBurned: Double?
  /// The distance of a workout in metres.
  public var workoutTotalDistance: Double?
  /// The values of a correlation by the short names of its members; `systolic` and `diastolic` for a blood pressure.
  public var correlationValues: [String: Double]?
  /// The metadata as a JSON object in a string.
  public var metadataJSON: String?
  /// The format of ``start`` and ``end``, which is not encoded as a member.
  public var dates: DateSpelling

  /// Creates a sample without values, which are then set one by one.
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
      // Whole seconds only: the app writes no fraction, and its decoder on older systems rejects them.
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
