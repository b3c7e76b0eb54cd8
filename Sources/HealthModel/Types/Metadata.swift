/// What a source attached to a sample, by HealthKit metadata key or a key of its own.
public typealias Metadata = [String: MetadataValue]

/// One metadata value. Apple's export prints all of them as text; apps send numbers, booleans and dates too.
public enum MetadataValue: Hashable, Sendable {
  /// Text, and every value of Apple's export, which prints them all as text.
  case string(String)
  /// A whole number that came as one: `1.0` is a ``number(_:)``.
  case integer(Int64)
  /// May be infinite or NaN.
  case number(Double)
  /// As apps send it. Apple's export prints `1` and `0`, which stay text.
  case bool(Bool)
  /// An instant to the microsecond; the zone that it was written with is not kept.
  case date(Timestamp)
}

extension MetadataValue: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { self = .string(value) }
}

/// In JSON a string, an integer and a boolean stand for themselves; `{"number": 1.5}` and `{"date": "…Z"}` name what
/// JSON cannot tell apart. A bare fraction is read as a number.
extension MetadataValue: Codable {
  private enum Key: String, CodingKey { case number, date }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // The commonest first: each kind in vain costs more than the value.
    if let text = try? container.decode(String.self) {
      self = .string(text)
    } else if let object = try? decoder.container(keyedBy: Key.self) {
      if let date = try object.decodeIfPresent(Timestamp.self, forKey: .date) {
        self = .date(date)
      } else {
        self = .number(try object.decode(JSONNumber.self, forKey: .number).value)
      }
    } else if let flag = try? container.decode(Bool.self) {
      self = .bool(flag)
    } else if let integer = try? container.decode(Int64.self) {
      self = .integer(integer)
    } else {
      self = .number(try container.decode(Double.self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .string(let text):
      var container = encoder.singleValueContainer()
      try container.encode(text)
    case .integer(let integer):
      var container = encoder.singleValueContainer()
      try container.encode(integer)
    case .bool(let flag):
      var container = encoder.singleValueContainer()
      try container.encode(flag)
    case .number(let number):
      var object = encoder.container(keyedBy: Key.self)
      try object.encode(JSONNumber(value: number), forKey: .number)
    case .date(let date):
      var object = encoder.container(keyedBy: Key.self)
      try object.encode(date, forKey: .date)
    }
  }
}
