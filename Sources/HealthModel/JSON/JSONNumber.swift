/// A double in JSON: a number if it is finite, otherwise `"nan"`, `"inf"` or `"-inf"`.
package struct JSONNumber: Codable, Sendable {
  package var value: Double

  package init(value: Double) { self.value = value }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Double.self) {
      value = number
      return
    }
    switch try container.decode(String.self) {
    case "nan": value = .nan
    case "inf": value = .infinity
    case "-inf": value = -.infinity
    default: throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a number")
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if value.isFinite {
      try container.encode(value)
    } else {
      try container.encode(value.isNaN ? "nan" : value < 0 ? "-inf" : "inf")
    }
  }
}

extension KeyedDecodingContainer {
  func decodeNumber(forKey key: Key) throws -> Double {
    try decode(JSONNumber.self, forKey: key).value
  }

  func decodeNumberIfPresent(forKey key: Key) throws -> Double? {
    try decodeIfPresent(JSONNumber.self, forKey: key)?.value
  }
}

extension KeyedEncodingContainer {
  mutating func encodeNumber(_ value: Double, forKey key: Key) throws {
    try encode(JSONNumber(value: value), forKey: key)
  }

  mutating func encodeNumberIfPresent(_ value: Double?, forKey key: Key) throws {
    try encodeIfPresent(value.map(JSONNumber.init), forKey: key)
  }
}
