/// A JSON object key with any name.
struct OpenKey: CodingKey, ExpressibleByStringLiteral {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ text: String) { stringValue = text }
  init(stringLiteral text: String) { stringValue = text }
  init?(stringValue text: String) { self.init(text) }
  init?(intValue: Int) { nil }
}

extension Decoder {
  /// Returns a container for an object with no keys other than `keys`. A structure would lose members that a later
  /// version adds to a payload; since they are refused here, the payload is kept as an unknown payload instead.
  ///
  /// - Throws: `DecodingError` for an unexpected key.
  func strictContainer(_ keys: Set<String>) throws -> KeyedDecodingContainer<OpenKey> {
    let object = try container(keyedBy: OpenKey.self)
    if let foreign = object.allKeys.first(where: { !keys.contains($0.stringValue) }) {
      throw DecodingError.dataCorrupted(
        .init(codingPath: object.codingPath, debugDescription: "\(foreign.stringValue) is unknown here"))
    }
    return object
  }
}
