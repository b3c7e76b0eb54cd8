/// The metadata of a sample, by HealthKit metadata key or the source's own key.
public typealias Metadata = [String: MetadataValue]

/// A metadata value. Apple's export prints every value as text; apps also send numbers, booleans and dates.
public enum MetadataValue: Hashable, Sendable {
  /// Text, and every value from Apple's export.
  case string(String)
  /// An integer that was sent as such: `1.0` is a ``number(_:)``.
  case integer(Int64)
  /// A floating-point number, which may be infinite or NaN.
  case number(Double)
  /// A Boolean value from an app. Apple's export prints `1` and `0`, which remain text.
  case bool(Bool)
  /// An instant in microseconds; its original time zone is not kept.
  case date(Timestamp)
}

extension MetadataValue: ExpressibleByStringLiteral {
  public init(stringLiteral value: String) { self = .string(value) }
}

/// Encoded in JSON as a string, integer or boolean, or as `{"number": 1.5}` or `{"date": "…Z"}` for types that JSON
/// cannot distinguish. A bare fraction is read as a number.
extension MetadataValue: Codable {
  private enum Key: String, CodingKey { case number, date }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    // The most common types first: a failed attempt costs more than decoding the value.
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
