/// The parts of a ``Payload``, the kind aside: a number and a unit, or JSON, or both of one.
public struct CodedPayload: Sendable {
  /// `nil` for NaN, and where ``json`` says it all.
  public var number: Double?
  /// Of a quantity; `nil` for every other kind.
  public var unit: String?
  /// As ``CanonicalJSON`` writes it; `nil` where number and unit say it all.
  public var json: String?

  /// Throws `EncodingError` for what cannot be written as JSON.
  public init(_ payload: Payload) throws {
    switch payload {
    case .quantity(let quantity):
      number = quantity.value.isNaN ? nil : quantity.value
      unit = quantity.unit
    case .category(let category):
      number = category.value.flatMap(Double.init(exactly:))
      if category.name != nil || (category.value != nil && number == nil) { json = try CanonicalJSON.encode(category) }
    case .correlation(let correlation):
      json = CanonicalJSONWriter.text(capacity: 32 + 128 * correlation.members.count) { correlation.write(to: &$0) }
    case .workout(let workout):
      json = try CanonicalJSONWriter.text(capacity: 1024) { try workout.write(to: &$0) }
    case .activitySummary(let summary):
      json = CanonicalJSONWriter.text(capacity: 512) { summary.write(to: &$0) }
    case .characteristic(let characteristic): json = try CanonicalJSON.encode(characteristic)
    case .workoutRoute(let route):
      json = try NumberColumns.encode(
        route.head,
        columns: WorkoutRoute.columnNames.compactMap { name in route.column(name).map { (name, $0) } })
    case .electrocardiogram(let electrocardiogram):
      json = try NumberColumns.encode(
        Electrocardiogram.Head(electrocardiogram), columns: [("voltages", electrocardiogram.voltages)])
    case .audiogram(let audiogram): json = try CanonicalJSON.encode(audiogram)
    case .visionPrescription(let prescription): json = try CanonicalJSON.encode(prescription)
    case .clinicalRecord(let record): json = try CanonicalJSON.encode(record)
    case .unknown(_, let content): json = try CanonicalJSONWriter.text(capacity: 1024) { try $0.value(content) }
    }
  }
}

extension Payload {
  /// From its kind and its parts. Throws `DecodingError` for parts that the kind does not have.
  public init(kind: String, number: Double?, unit: String?, json: String?) throws {
    func content<Value: Decodable>(_ type: Value.Type) throws -> Value {
      try CanonicalJSON.decode(type, json ?? "")
    }
    switch kind {
    case "quantity": self = .quantity(Quantity(number ?? .nan, unit ?? ""))
    case "category" where json != nil: self = .category(try content(CategoryValue.self))
    case "category":
      let value = number.flatMap(Int64.init(exactly:))
      guard number == nil || value != nil else {
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "a category without an integer"))
      }
      self = .category(CategoryValue(value: value))
    case "correlation": self = .correlation(try content(Correlation.self))
    case "workout": self = .workout(try content(Workout.self))
    case "activitySummary": self = .activitySummary(try content(ActivitySummary.self))
    case "characteristic": self = .characteristic(try content(CharacteristicValue.self))
    default:
      if let known = Self.open(kind, json ?? "") {
        self = known
      } else {
        self = .unknown(kind: kind, content: try content(JSONValue.self))
      }
    }
  }

  /// A payload that is mostly long arrays of numbers, written as a ``CodedPayload`` has it, which takes little memory beside
  /// them; `nil` for any other.
  public static func columns(_ kind: String, _ json: String) -> Payload? {
    switch kind {
    case "workoutRoute":
      guard let (head, columns) = NumberColumns.decode(json, names: Set(WorkoutRoute.columnNames)),
        head.utf8.count < 1 << 20, let head = try? CanonicalJSON.decode(WorkoutRoute.Head.self, head)
      else { return nil }
      return WorkoutRoute(head, columns: columns).map(Payload.workoutRoute)
    case "electrocardiogram":
      guard let (head, columns) = NumberColumns.decode(json, names: ["voltages"]), let column = columns["voltages"],
        !column.contains(nil), head.utf8.count < 1 << 20,
        var whole = try? CanonicalJSON.decode(Electrocardiogram.Head.self, head)
      else { return nil }
      whole.electrocardiogram.voltages = column.compactMap(\.self)
      return .electrocardiogram(whole.electrocardiogram)
    default: return nil
    }
  }

  /// A payload of a kind whose content may be of another version: `nil` for what its structure has no place for, which
  /// stays JSON. Versions before these kinds kept audiograms, prescriptions and clinical records as `attributes` and
  /// `children`.
  private static func open(_ kind: String, _ json: String) -> Payload? {
    func content<Value: Decodable>(_ type: Value.Type) -> Value? { try? CanonicalJSON.decode(type, json) }
    switch kind {
    case "workoutRoute":
      return columns(kind, json) ?? content(WorkoutRoute.self).map(Payload.workoutRoute)
    case "electrocardiogram":
      return columns(kind, json) ?? content(Electrocardiogram.self).map(Payload.electrocardiogram)
    case "audiogram": return content(Audiogram.self).map(Payload.audiogram)
    case "visionPrescription": return content(VisionPrescription.self).map(Payload.visionPrescription)
    case "clinicalRecord": return content(ClinicalRecord.self).map(Payload.clinicalRecord)
    default: return nil
    }
  }
}
