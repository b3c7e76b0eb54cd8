/// Any JSON value, for payloads of a kind that this version does not know and hands on unchanged.
public enum JSONValue: Hashable, Sendable {
  /// `null`, which is not the same as a member that is not there.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number without a fraction that fits 64 bits, however it was written.
  case integer(Int64)
  /// Any other number; finite when it was decoded.
  case number(Double)
  /// Text, with its escapes undone.
  case string(String)
  /// Elements in their order.
  case array([JSONValue])
  /// Members without their order; of two with one name the decoder keeps one.
  case object([String: JSONValue])
}

extension JSONValue: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let text = try? container.decode(String.self) {
      // The commonest first: each kind in vain costs more than the value.
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
