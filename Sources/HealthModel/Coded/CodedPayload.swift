/// The parts of a ``Payload``, the kind aside: a number and a unit, or JSON, or both of one.
public struct CodedPayload: Sendable {
  public var number: Double?
  public var unit: String?
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
    case .correlation(let correlation): json = try CanonicalJSON.encode(correlation)
    case .workout(let workout): json = try CanonicalJSON.encode(workout)
    case .activitySummary(let summary): json = try CanonicalJSON.encode(summary)
    case .characteristic(let characteristic): json = try CanonicalJSON.encode(characteristic)
    case .unknown(_, let content): json = try CanonicalJSON.encode(content)
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
    default: self = .unknown(kind: kind, content: try content(JSONValue.self))
    }
  }
}
