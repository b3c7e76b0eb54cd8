import Foundation

/// Encoded as a JSON object: `uuid`, `type`, `start`, `end`, `source`, `kind`, `payload`, and optionally `created`,
/// `device` and `metadata`. Instants are ISO 8601 in UTC. The form of `payload` depends on `kind` (see ``Payload``).
extension Sample: Codable {
  private enum Key: String, CodingKey {
    case uuid, type, start, end, created, source, device, metadata, kind, payload
  }

  public init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: Key.self)
    let kind = try object.decode(String.self, forKey: .kind)
    self.init(
      uuid: try object.decode(UUID.self, forKey: .uuid),
      type: try object.decode(SampleType.self, forKey: .type),
      start: try object.decode(Timestamp.self, forKey: .start),
      end: try object.decode(Timestamp.self, forKey: .end),
      created: try object.decodeIfPresent(Timestamp.self, forKey: .created),
      source: try object.decode(Source.self, forKey: .source),
      device: try object.decodeIfPresent(Device.self, forKey: .device),
      metadata: try object.decodeIfPresent(Metadata.self, forKey: .metadata) ?? [:],
      payload: try Payload(kind: kind, in: object, forKey: .payload))
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(uuid, forKey: .uuid)
    try object.encode(type, forKey: .type)
    try object.encode(start, forKey: .start)
    try object.encode(end, forKey: .end)
    try object.encodeIfPresent(created, forKey: .created)
    try object.encode(source, forKey: .source)
    try object.encodeIfPresent(device, forKey: .device)
    if !metadata.isEmpty { try object.encode(metadata, forKey: .metadata) }
    try object.encode(payload.kind, forKey: .kind)
    switch payload {
    case .quantity(let quantity): try object.encode(quantity, forKey: .payload)
    case .category(let category): try object.encode(category, forKey: .payload)
    case .unknown(_, let content): try object.encode(content, forKey: .payload)
    default: if let content = payload.content { try object.encode(content, forKey: .payload) }
    }
  }
}

extension Payload {
  /// Decodes a payload. Content that does not fit the type of an open kind stays JSON: earlier versions kept Apple's
  /// audiograms, prescriptions and clinical records as `attributes` and `children`, and stores and peers still have
  /// such samples.
  fileprivate init<Key>(kind: String, in object: KeyedDecodingContainer<Key>, forKey key: Key) throws {
    func foreign() throws -> JSONValue { try object.decodeIfPresent(JSONValue.self, forKey: key) ?? .null }
    func payload<Content: SamplePayload>(_ type: Content.Type) throws -> Payload {
      try Content.payload({ try object.decode(type, forKey: key) }, foreign: foreign)
    }
    self = try Self.contentType(ofKind: kind).map { try payload($0) } ?? .unknown(kind: kind, content: foreign())
  }
}
