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
  /// The types of all kinds, each once.
  package static let contentTypes: [any SamplePayload.Type] = [
    Quantity.self, CategoryValue.self, Correlation.self, Workout.self, ActivitySummary.self, CharacteristicValue.self,
    WorkoutRoute.self, Electrocardiogram.self, Audiogram.self, VisionPrescription.self, ClinicalRecord.self,
  ]

  /// What the case holds; `nil` for ``unknown(kind:content:)``. A box for all but the smallest: what is done with every
  /// quantity and category is done without it.
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

  /// `nil` for a kind that this version does not know.
  package static func contentType(ofKind kind: String) -> (any SamplePayload.Type)? { types[kind] }

  /// Whether this version has a case for it.
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

  /// Whether any JSON may be a part of it, however deeply nested.
  package var holdsAnyJSON: Bool {
    switch self {
    case .quantity, .category: false
    case .unknown: true
    default: content.map { type(of: $0).holdsAnyJSON } ?? true
    }
  }

  /// Content that this version has no kind for, under the name that it came with. A name that a known kind bears already
  /// gets `foreign.` before it, because whoever reads it back would look for that kind's payload.
  public static func foreign(_ name: String, _ content: JSONValue) -> Payload {
    .unknown(kind: isKnown(kind: name) ? "foreign.\(name)" : name, content: content)
  }
}
