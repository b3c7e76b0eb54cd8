/// A type for the content of samples of one kind. All differences between kinds are expressed here or in a protocol
/// that refines this one (``ColumnPayload``, ``ScopedPayload``, ``SideFilePayload``, ``SingleReading``).
///
/// To add a kind, create a type in a file of its own and add three lines to `Payload.swift`: its case, and its
/// entries in ``Payload/content`` and ``Payload/contentTypes``.
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
/// The `Codable` conformance defines the JSON of the feed. It writes no `null`, leaves out empty members, and decodes
/// with `strictContainer`, so that members added by a later version are not lost.
package protocol SamplePayload: Codable, Hashable, Sendable {
  /// The name of the kind on the wire and in the store, which must never change.
  static var kind: String { get }

  /// The ``Payload`` case with this value.
  var payload: Payload { get }

  /// Whether content that this type cannot decode is kept as ``Payload/unknown(kind:content:)``, because another
  /// version may have written it. For the kinds that have existed since the first version, such content is an error.
  static var isOpen: Bool { get }

  /// Whether values may be so large that only few are held in memory at a time.
  static var isLarge: Bool { get }

  /// Whether the payload may contain arbitrary JSON, nested to any depth.
  static var holdsAnyJSON: Bool { get }

  /// Whether a source has at most one such sample at a time. If so, two samples with equal times are copies that came
  /// by different roads, even if their content differs.
  static var isUniqueAtItsTime: Bool { get }

  /// Creates a payload from the columns of the store and the wire.
  ///
  /// - Throws: `DecodingError` for parts that do not match the kind.
  init(coded: CodedPayload) throws

  /// Returns the payload in the columns of the store and the wire.
  ///
  /// - Throws: `EncodingError` for a payload that cannot be written as JSON.
  func coded() throws -> CodedPayload

  /// Writes the canonical form of the JSON, from which digests are computed. Implement it only if the default is too
  /// slow.
  func write(to form: inout CanonicalForm)

  /// The measured content, without names that may differ between exports, such as those of files.
  var measured: Self { get }

  /// The text by which records with equal identity fields are ranked; see ``Sample/canonicalValue``.
  var canonicalValue: String { get }

  /// The tie-breaker for equal ``canonicalValue``.
  var rankDetail: RankDetail { get }
}

/// The part of a payload by which otherwise equal records are ranked.
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
    // Null for content that cannot be encoded, which does not occur for payloads.
    form.write((try? CanonicalJSON.decode(JSONValue.self, CanonicalJSON.encode(self))) ?? .null)
  }

  package var measured: Self { self }
  package var canonicalValue: String { "" }
  package var rankDetail: RankDetail { .measured }
}

extension SamplePayload {
  /// Returns the payload that `decode` reads. If decoding fails for an open kind, returns the JSON that `foreign`
  /// reads.
  static func payload(_ decode: () throws -> Self, foreign: () throws -> JSONValue) throws -> Payload {
    if !isOpen { return try decode().payload }
    if let known = try? decode() { return known.payload }
    return .unknown(kind: kind, content: try foreign())
  }
}
