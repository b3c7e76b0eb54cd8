import Foundation

/// JSON as it is kept and sent: sorted keys and no white space, so that equal values are equal text.
public enum CanonicalJSON {
  /// The one text of a value: UTF-8, slashes not escaped.
  ///
  /// - Throws: `EncodingError` for a value that JSON cannot say, such as an infinite number.
  public static func encode(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  /// Whether a text is surely what ``encode(_:)`` makes of some ``JSONValue``, found without making that value. False also
  /// for canonical texts with rare escape sequences or keys that are not ASCII: decode and encode those to find out.
  ///
  /// ```swift
  /// print(CanonicalJSON.isPlain(#"{"a":[1.5,null],"b":"c"}"#))  // true
  /// print(CanonicalJSON.isPlain(#"{"b":1,"a":2}"#))             // false: the keys are not in order
  /// ```
  public static func isPlain(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { utf8 in
      var scanner = PlainJSONScanner(utf8)
      return scanner.isText()
    }
  }

  /// Reads any JSON, canonical or not.
  ///
  /// - Throws: `DecodingError` for what is no JSON, or not of this type.
  public static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(text.utf8))
  }
}
