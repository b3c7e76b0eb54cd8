/// What samples of one kind say. Whatever differs from kind to kind is asked here, or of a protocol that refines this one
/// (``ColumnPayload``, ``ScopedPayload``, ``SideFilePayload``, ``SingleReading``).
///
/// A kind is a type in a file of its own and three lines in `Payload.swift`: its case, and its place in
/// ``Payload/content`` and ``Payload/contentTypes``.
///
///     public struct StateOfMind: Hashable, Sendable { public var valence: Double }
///
///     extension StateOfMind: SamplePayload {
///       package static let kind = "stateOfMind"
///       package var payload: Payload { .stateOfMind(self) }
///       public init(from decoder: any Decoder) throws {
///         valence = try decoder.strictContainer(["valence"]).decodeNumber(forKey: "valence")
///       }
///     }
///
/// Codable is the JSON of the feed. It writes no `null` and leaves out what is empty, and reads with
/// `strictContainer`, so that what a later version adds is not lost.
package protocol SamplePayload: Codable, Hashable, Sendable {
  /// The name of the kind on the wire and in the store, which is never changed.
  static var kind: String { get }

  /// This, as the case that it has there.
  var payload: Payload { get }

  /// Whether content that this type does not take is kept as ``Payload/unknown(kind:content:)``, because another version
  /// may have written it. Only for the kinds that hpeer has always had it is an error.
  static var isOpen: Bool { get }

  /// Whether some are so large that few are held in memory at a time.
  static var isLarge: Bool { get }

  /// Whether any JSON may be a part of it, however deeply nested.
  static var holdsAnyJSON: Bool { get }

  /// Whether a source has one at a time, so that two of the same time are one that came by two roads, however much each
  /// says.
  static var isUniqueAtItsTime: Bool { get }

  /// From the columns of the store and the wire. Throws `DecodingError` for parts that the kind does not have.
  init(coded: CodedPayload) throws

  /// As the columns of the store and the wire have it. Throws `EncodingError` for what cannot be written as JSON.
  func coded() throws -> CodedPayload

  /// Writes what digests are made of: the form of the JSON. Only for speed there is another way than the default.
  func write(to form: inout CanonicalForm)

  /// What was measured: without names that may change from export to export, such as those of files.
  var measured: Self { get }

  /// What ranks records that agree in all that identities are made of; see ``Sample/canonicalValue``.
  var canonicalValue: String { get }

  /// What ranks them where ``canonicalValue`` does not.
  var rankDetail: RankDetail { get }
}

/// What of a payload ranks records that are otherwise equal.
package enum RankDetail {
  case nothing
  case text(String)
  /// All of ``SamplePayload/measured``.
  case measured
}

extension SamplePayload {
  package static var isOpen: Bool { true }
  package static var isLarge: Bool { false }
  package static var holdsAnyJSON: Bool { false }
  package static var isUniqueAtItsTime: Bool { false }

  package init(coded: CodedPayload) throws { self = try CanonicalJSON.decode(Self.self, coded.json ?? "") }

  package func coded() throws -> CodedPayload { CodedPayload(json: try CanonicalJSON.encode(self)) }

  package func write(to form: inout CanonicalForm) {
    // Null for what cannot be written, which no payload is.
    form.write((try? CanonicalJSON.decode(JSONValue.self, CanonicalJSON.encode(self))) ?? .null)
  }

  package var measured: Self { self }
  package var canonicalValue: String { "" }
  package var rankDetail: RankDetail { .measured }
}

extension SamplePayload {
  /// What `decode` reads; the JSON that `foreign` reads where the kind is open and this type has no place for it.
  static func payload(_ decode: () throws -> Self, foreign: () throws -> JSONValue) throws -> Payload {
    if !isOpen { return try decode().payload }
    if let known = try? decode() { return known.payload }
    return .unknown(kind: kind, content: try foreign())
  }
}
