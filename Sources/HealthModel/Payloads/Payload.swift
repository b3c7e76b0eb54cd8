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
