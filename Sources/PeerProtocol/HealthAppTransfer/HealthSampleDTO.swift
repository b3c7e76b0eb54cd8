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

/// `GET /health/types`: what there is.
public struct HealthTypes: Encodable, Sendable {
  /// One type that has samples which the client may see.
  public struct Entry: Encodable, Sendable {
    /// The catalogue's short name.
    public var identifier: String
    /// As ``SampleTypeCatalogue/Entry/displayName``.
    public var displayName: String
    /// The number of samples that the client may see.
    public var sampleCount: Int

    /// - Parameter sampleCount: more than 0.
    public init(identifier: String, displayName: String, sampleCount: Int) {
      self.identifier = identifier
      self.displayName = displayName
      self.sampleCount = sampleCount
    }
  }

  /// Only types that the app knows: its clients refuse an answer with others.
  public var types: [Entry]

  /// - Parameter types: in the order in which clients show them.
  public init(types: [Entry]) {
    self.types = types
  }
}

/// `GET /health/data`: one page of one type, newest first.
public struct HealthDataPage: Encodable, Sendable {
  /// The short name that was asked for.
  public var type: String
  /// At most ``limit``; fewer where the app has no words for some.
  public var samples: [HealthSampleDTO]
  /// The number of samples of the type that the client may see, on all pages.
  public var totalCount: Int
  /// How many newer samples were skipped.
  public var offset: Int
  /// The size of a page, as it was asked for.
  public var limit: Int
  /// Whether there are samples after this page.
  public var hasMore: Bool

  /// ``hasMore`` follows from the three numbers.
  public init(type: String, samples: [HealthSampleDTO], totalCount: Int, offset: Int, limit: Int) {
    self.type = type
    self.samples = samples
    self.totalCount = totalCount
    self.offset = offset
    self.limit = limit
    hasMore = offset + limit < totalCount
  }
}
