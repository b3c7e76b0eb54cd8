/// What a sample says. Open: a kind that this version does not know is kept as JSON and passed on.
public enum Payload: Hashable, Sendable {
  /// A number in a unit: steps, heart rate, body mass.
  case quantity(Quantity)
  /// One value of an enumeration: sleep stages, stand hours, symptoms.
  case category(CategoryValue)
  /// References to the samples that it groups.
  case correlation(Correlation)
  /// A workout with its totals, statistics, events and activities; its route is a sample of its own.
  case workout(Workout)
  /// One day's rings, which change until the day is over.
  case activitySummary(ActivitySummary)
  /// Date of birth, sex, blood type and the like.
  case characteristic(CharacteristicValue)
  // Rare and large: boxed, so that they do not make every sample larger.
  /// Positions, up to hundreds of thousands.
  indirect case workoutRoute(WorkoutRoute)
  /// Voltages and what was made of them.
  indirect case electrocardiogram(Electrocardiogram)
  /// A hearing test.
  indirect case audiogram(Audiogram)
  /// Glasses or contact lenses, with scans of the prescription.
  indirect case visionPrescription(VisionPrescription)
  /// A FHIR resource.
  indirect case clinicalRecord(ClinicalRecord)
  /// A kind that this version has no type for, or content that its type has no place for. Made with ``foreign(_:_:)``
  /// where the name comes from outside.
  case unknown(kind: String, content: JSONValue)
}

extension Payload {
  /// The name of the kind on the wire and in the store.
  public var kind: String {
    switch self {
    case .quantity: "quantity"
    case .category: "category"
    case .correlation: "correlation"
    case .workout: "workout"
    case .activitySummary: "activitySummary"
    case .characteristic: "characteristic"
    case .workoutRoute: "workoutRoute"
    case .electrocardiogram: "electrocardiogram"
    case .audiogram: "audiogram"
    case .visionPrescription: "visionPrescription"
    case .clinicalRecord: "clinicalRecord"
    case .unknown(let kind, _): kind
    }
  }

  private static let knownKinds: Set<String> = [
    "quantity", "category", "correlation", "workout", "activitySummary", "characteristic", "workoutRoute",
    "electrocardiogram", "audiogram", "visionPrescription", "clinicalRecord",
  ]

  /// Content that this version has no kind for, under the name that it came with. A name that a known kind bears already
  /// gets `foreign.` before it, because whoever reads it back would look for that kind's payload.
  public static func foreign(_ name: String, _ content: JSONValue) -> Payload {
    .unknown(kind: isKnown(kind: name) ? "foreign.\(name)" : name, content: content)
  }

  /// Whether this version has a case for it.
  public static func isKnown(kind: String) -> Bool { knownKinds.contains(kind) }
}

/// A number in a unit (`HKQuantity`).
public struct Quantity: Hashable, Sendable {
  /// May be infinite or NaN, which is one value whatever its bits. A store keeps -0 as 0.
  public var value: Double
  /// HealthKit's unit string, as it came: `count/min`, `kcal`, `mL/min·kg`. Percentages are fractions with unit `%`.
  public var unit: String

  /// `Quantity(72, "count/min")`. The unit is not checked.
  public init(_ value: Double, _ unit: String) {
    self.value = value
    self.unit = unit
  }
}

extension Quantity: Codable {
  private enum Key: String, CodingKey { case value, unit }

  public init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: Key.self)
    value = try object.decodeNumber(forKey: .value)
    unit = try object.decode(String.self, forKey: .unit)
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encodeNumber(value, forKey: .value)
    try object.encode(unit, forKey: .unit)
  }
}

/// The value of a category sample: HealthKit's integer, and Apple's name for it where the integer does not say it.
///
/// Apple's export prints names (`HKCategoryValueSleepAnalysisAsleepCore`), apps send integers. `name` is `nil` when
/// ``CategoryValueNames`` derives it from the type and the integer; both are `nil` for a sample without a value.
public struct CategoryValue: Hashable, Sendable, Codable {
  /// The raw value of the HealthKit enumeration that belongs to the sample's type.
  public var value: Int64?
  /// As the export prints it; kept only where type and ``value`` do not give it back.
  public var name: String?

  /// Use ``CategoryValueNames/value(exported:type:)`` for a text of an export.
  public init(value: Int64?, name: String? = nil) {
    self.value = value
    self.name = name
  }
}

/// Samples that belong together (`HKCorrelation`): a blood pressure, a meal. The members are samples of their own.
public struct Correlation: Hashable, Sendable {
  /// In the order of the source. They are found by reference, and need not be in the store (yet).
  public var members: [SampleReference]
  /// Some members were left out for a reader who may not see them; see ``SampleCut``.
  public var isPartial: Bool

  /// - Parameter isPartial: whether members are missing from the list on purpose.
  public init(members: [SampleReference], isPartial: Bool = false) {
    self.members = members
    self.isPartial = isPartial
  }
}

extension Correlation: Codable {
  private enum Key: String, CodingKey { case members, partial }

  public init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: Key.self)
    members = try object.decode([SampleReference].self, forKey: .members)
    isPartial = try object.decodeIfPresent(Bool.self, forKey: .partial) ?? false
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(members, forKey: .members)
    if isPartial { try object.encode(true, forKey: .partial) }
  }
}

/// A characteristic of the person (`HKCharacteristicType`), as Apple's export prints it: `HKBiologicalSexFemale`.
public struct CharacteristicValue: Hashable, Sendable, Codable {
  /// As the export prints it. ``Person`` is for comparing: it knows which texts say nothing.
  public var value: String

  /// - Parameter value: kept as it is.
  public init(value: String) {
    self.value = value
  }
}

/// One day's activity rings (`HKActivitySummary`), by Apple's attribute names: `activeEnergyBurned`, `appleStandHours`.
public struct ActivitySummary: Hashable, Sendable, Codable {
  /// The local calendar day, `yyyy-MM-dd`.
  public var date: String
  /// All other attributes, as they came.
  public var attributes: [String: String]

  /// - Parameter attributes: without the date; numbers stay text, because their units are attributes themselves.
  public init(date: String, attributes: [String: String]) {
    self.date = date
    self.attributes = attributes
  }
}
