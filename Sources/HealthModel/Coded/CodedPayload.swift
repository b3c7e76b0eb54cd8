/// The parts of a ``Payload``, the kind aside: a number and a unit, or JSON, or both of one.
public struct CodedPayload: Sendable {
  /// `nil` for NaN, and where ``json`` says it all.
  public var number: Double?
  /// Of a quantity; `nil` for every other kind.
  public var unit: String?
  /// As ``CanonicalJSON`` writes it; `nil` where number and unit say it all.
  public var json: String?

  init(number: Double? = nil, unit: String? = nil, json: String? = nil) {
    (self.number, self.unit, self.json) = (number, unit, json)
  }

  /// Throws `EncodingError` for what cannot be written as JSON.
  public init(_ payload: Payload) throws {
    switch payload {
    case .quantity(let quantity): self = quantity.coded()
    case .category(let category): self = try category.coded()
    case .unknown(_, let content):
      self.init(json: try CanonicalJSONWriter.text(capacity: 1024) { try $0.value(content) })
    default: self = try payload.content?.coded() ?? CodedPayload()
    }
  }
}

extension Payload {
  /// From its kind and its parts. Throws `DecodingError` for parts that the kind does not have.
  public init(kind: String, number: Double?, unit: String?, json: String?) throws {
    let coded = CodedPayload(number: number, unit: unit, json: json)
    func foreign() throws -> JSONValue { try CanonicalJSON.decode(JSONValue.self, json ?? "") }
    func payload<Content: SamplePayload>(_ type: Content.Type) throws -> Payload {
      try Content.payload({ try Content(coded: coded) }, foreign: foreign)
    }
    switch kind {
    case Quantity.kind: self = .quantity(Quantity(coded: coded))
    case CategoryValue.kind: self = .category(try CategoryValue(coded: coded))
    default:
      // As one expression with `map` and `??`, a build without the optimizer of Swift 6.3 reads memory that nobody wrote.
      guard let type = Self.contentType(ofKind: kind) else {
        self = .unknown(kind: kind, content: try foreign())
        return
      }
      self = try payload(type)
    }
  }

  /// A payload that is mostly long arrays of numbers, written as a ``CodedPayload`` has it, which takes little memory beside
  /// them; `nil` for any other.
  public static func columns(_ kind: String, _ json: String) -> Payload? {
    (contentType(ofKind: kind) as? any ColumnPayload.Type)?.payload(columns: json)
  }
}
