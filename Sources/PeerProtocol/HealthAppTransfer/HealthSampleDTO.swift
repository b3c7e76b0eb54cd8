import HealthModel

/// How an instant is written for HealthAppTransfer's clients.
public enum DateSpelling: String, Sendable, CaseIterable {
  /// `2024-06-15T10:30:00Z`, as the app's own server writes it.
  case iso8601
  /// Seconds since 2001-01-01T00:00:00Z as a number, the only form that the shipping Mac client can read.
  case reference
}

/// A sample as HealthAppTransfer has it on the wire (reference: healthapptransfer.md section 5).
public struct HealthSampleDTO: Sendable, Hashable {
  /// Upper-case UUID.
  public var id: String
  /// The catalogue's short name: `heartRate`.
  public var type: String
  public var start: Timestamp
  public var end: Timestamp
  public var sourceName: String
  public var sourceBundleIdentifier: String?
  public var value: Double?
  public var unit: String?
  public var categoryValue: Int64?
  public var workoutActivityType: UInt?
  /// Seconds.
  public var workoutDuration: Double?
  /// Kilocalories.
  public var workoutTotalEnergyBurned: Double?
  /// Metres.
  public var workoutTotalDistance: Double?
  public var correlationValues: [String: Double]?
  /// JSON in a string.
  public var metadataJSON: String?
  /// How ``start`` and ``end`` are encoded; not a field.
  public var dates: DateSpelling

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

/// `GET /health/types`: what there is.
public struct HealthTypes: Encodable, Sendable {
  public struct Entry: Encodable, Sendable {
    /// The catalogue's short name.
    public var identifier: String
    public var displayName: String
    public var sampleCount: Int

    public init(identifier: String, displayName: String, sampleCount: Int) {
      self.identifier = identifier
      self.displayName = displayName
      self.sampleCount = sampleCount
    }
  }

  public var types: [Entry]

  public init(types: [Entry]) {
    self.types = types
  }
}

/// `GET /health/data`: one page of one type, newest first.
public struct HealthDataPage: Encodable, Sendable {
  public var type: String
  public var samples: [HealthSampleDTO]
  public var totalCount: Int
  public var offset: Int
  public var limit: Int
  public var hasMore: Bool

  public init(type: String, samples: [HealthSampleDTO], totalCount: Int, offset: Int, limit: Int) {
    self.type = type
    self.samples = samples
    self.totalCount = totalCount
    self.offset = offset
    self.limit = limit
    hasMore = offset + limit < totalCount
  }
}
