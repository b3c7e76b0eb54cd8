/// The content of a sample. The set of kinds is open: a kind unknown to this version is kept as JSON and passed on.
public enum Payload: Hashable, Sendable {
  /// A number in a unit: steps, heart rate, body mass.
  case quantity(Quantity)
  /// A value of an enumeration: sleep stages, stand hours, symptoms.
  case category(CategoryValue)
  /// A group of samples, as references.
  case correlation(Correlation)
  /// A workout with its totals, statistics, events and activities; its route is a sample of its own.
  case workout(Workout)
  /// A day's activity rings, which change until the day is over.
  case activitySummary(ActivitySummary)
  /// A characteristic: date of birth, sex, blood type and the like.
  case characteristic(CharacteristicValue)
  // Rare, large payloads are boxed so that they do not enlarge every sample.
  /// Positions of a workout, up to hundreds of thousands.
  indirect case workoutRoute(WorkoutRoute)
  /// The voltages of an electrocardiogram and their classification.
  indirect case electrocardiogram(Electrocardiogram)
  /// A hearing test.
  indirect case audiogram(Audiogram)
  /// A prescription for glasses or contact lenses, with scans.
  indirect case visionPrescription(VisionPrescription)
  /// A FHIR resource.
  indirect case clinicalRecord(ClinicalRecord)
  /// A kind without a type in this version, or content that does not fit the type of its kind. Use ``foreign(_:_:)``
  /// if the name comes from outside.
  case unknown(kind: String, content: JSONValue)
}

extension Payload {
  /// The payload types of all kinds, without duplicates.
  package static let contentTypes: [any SamplePayload.Type] = [
    Quantity.self, CategoryValue.self, Correlation.self, Workout.self, ActivitySummary.self, CharacteristicValue.self,
    WorkoutRoute.self, Electrocardiogram.self, Audiogram.self, VisionPrescription.self, ClinicalRecord.self,
  ]

  /// The associated value, or `nil` for ``unknown(kind:content:)``. The existential is boxed for all but the smallest
  /// types, so hot paths for quantities and categories avoid this property.
  package var content: (any SamplePayload)? {
    switch self {
    case .quantity(let content): content
    case .category(let content): content
    case .correlation(let content): content
    case .workout(let content): content
    case .activitySummary(let content): content
    case .characteristic(let content): content
    case .workoutRoute(let content): content
    case .electrocardiogram(let content): content
    case .audiogram(let content): content
    case .visionPrescription(let content): content
    case .clinicalRecord(let content): content
    case .unknown: nil
    }
  }
}

extension Payload {
  private static let types = Dictionary(uniqueKeysWithValues: contentTypes.map { ($0.kind, $0) })

  /// Returns the payload type of a kind, or `nil` if this version does not know the kind.
  package static func contentType(ofKind kind: String) -> (any SamplePayload.Type)? { types[kind] }

  /// Returns whether this version has a case for the kind.
  public static func isKnown(kind: String) -> Bool { types[kind] != nil }

  /// The name of the kind on the wire and in the store.
  public var kind: String {
    switch self {
    case .quantity: Quantity.kind
    case .category: CategoryValue.kind
    case .unknown(let kind, _): kind
    default: content.map { type(of: $0).kind } ?? ""
    }
  }

  /// Whether the payload may contain arbitrary JSON, nested to any depth.
  package var holdsAnyJSON: Bool {
    switch self {
    case .quantity, .category: false
    case .unknown: true
    default: content.map { type(of: $0).holdsAnyJSON } ?? true
    }
  }

  /// Returns content of a foreign kind under its original name. A name that a known kind already uses is prefixed
  /// with `foreign.`, because decoding would otherwise expect that kind's payload.
  public static func foreign(_ name: String, _ content: JSONValue) -> Payload {
    .unknown(kind: isKnown(kind: name) ? "foreign.\(name)" : name, content: content)
  }
}
