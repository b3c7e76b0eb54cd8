/// Any JSON value, for payloads of unknown kinds, which are passed on unchanged.
public enum JSONValue: Hashable, Sendable {
  /// The value `null`, which differs from a missing member.
  case null
  /// The value `true` or `false`.
  case bool(Bool)
  /// A 64-bit number without a fraction, however it was written.
  case integer(Int64)
  /// Any other number, which is finite if it was decoded.
  case number(Double)
  /// A string with its escapes decoded.
  case string(String)
  /// An array of elements in their original order.
  case array([JSONValue])
  /// An object, without the order of its members. The decoder keeps one of several members with the same name.
  case object([String: JSONValue])
}

extension JSONValue: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let text = try? container.decode(String.self) {
      // The most common type first: a failed attempt costs more than decoding the value.
      self = .string(text)
    } else if let integer = try? container.decode(Int64.self) {
      self = .integer(integer)
    } else if let number = try? container.decode(Double.self) {
      // A fraction too fine for a double leaves a whole number, which would be read as an integer the next time.
      self = Int64(exactly: number).map(JSONValue.integer) ?? .number(number)
    } else if let flag = try? container.decode(Bool.self) {
      self = .bool(flag)
    } else if let array = try? container.decode([JSONValue].self) {
      self = .array(array)
    } else {
      self = .object(try container.decode([String: JSONValue].self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .null: try container.encodeNil()
    case .bool(let flag): try container.encode(flag)
    case .integer(let integer): try container.encode(integer)
    case .number(let number): try container.encode(number)
    case .string(let text): try container.encode(text)
    case .array(let array): try container.encode(array)
    case .object(let object): try container.encode(object)
    }
  }
}
