/// A key of a JSON object, whatever it is.
struct OpenKey: CodingKey, ExpressibleByStringLiteral {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ text: String) { stringValue = text }
  init(stringLiteral text: String) { stringValue = text }
  init?(stringValue text: String) { self.init(text) }
  init?(intValue: Int) { nil }
}

extension Decoder {
  /// An object that has no other keys than these. What a later version adds to a payload would be lost in a structure
  /// that has no place for it; refused here, it is kept as an unknown payload.
  func strictContainer(_ keys: Set<String>) throws -> KeyedDecodingContainer<OpenKey> {
    let object = try container(keyedBy: OpenKey.self)
    if let foreign = object.allKeys.first(where: { !keys.contains($0.stringValue) }) {
      throw DecodingError.dataCorrupted(
        .init(codingPath: object.codingPath, debugDescription: "\(foreign.stringValue) is unknown here"))
    }
    return object
  }
}
