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
