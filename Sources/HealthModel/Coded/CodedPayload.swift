/// The encoded parts of a ``Payload`` apart from its kind: a number and unit, JSON, or a number and JSON.
public struct CodedPayload: Sendable {
  /// The number, or `nil` for NaN and if ``json`` holds the entire payload.
  public var number: Double?
  /// The unit of a quantity, or `nil` for every other kind.
  public var unit: String?
  /// The payload as written by ``CanonicalJSON``, or `nil` if number and unit hold the entire payload.
  public var json: String?

  init(number: Double? = nil, unit: String? = nil, json: String? = nil) {
    (self.number, self.unit, self.json) = (number, unit, json)
  }

  /// Encodes a payload.
  ///
  /// - Throws: `EncodingError` for a payload that cannot be written as JSON.
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
  /// Creates a payload from its kind and its encoded parts.
  ///
  /// - Throws: `DecodingError` for parts that do not match the kind.
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
      // With `map` and `??` in one expression, an unoptimized build by Swift 6.3 reads uninitialized memory.
      guard let type = Self.contentType(ofKind: kind) else {
        self = .unknown(kind: kind, content: try foreign())
        return
      }
      self = try payload(type)
    }
  }

  /// Decodes a payload that consists mostly of long arrays of numbers, using little memory beyond the numbers.
  /// Returns `nil` for any other kind, or for JSON in a form that ``CodedPayload`` does not write.
  public static func columns(_ kind: String, _ json: String) -> Payload? {
    (contentType(ofKind: kind) as? any ColumnPayload.Type)?.payload(columns: json)
  }
}
