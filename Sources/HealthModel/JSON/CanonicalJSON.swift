import Foundation

/// The JSON form used for storage and transfer, with sorted keys and no white space, so that equal values have equal
/// text.
public enum CanonicalJSON {
  /// Returns the canonical text of a value: UTF-8 with unescaped slashes.
  ///
  /// - Throws: `EncodingError` for a value that JSON cannot represent, such as an infinite number.
  public static func encode(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  /// Returns whether a text is certainly the ``encode(_:)`` output of some ``JSONValue``, without decoding it.
  /// Returns false also for canonical texts with rare escape sequences or non-ASCII keys: decode and encode those to
  /// find out.
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

  /// Decodes any JSON, canonical or not.
  ///
  /// - Throws: `DecodingError` for text that is not JSON or not of this type.
  public static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    try JSONDecoder().decode(type, from: Data(text.utf8))
  }

  /// Returns the number of values other than arrays and objects in a text from ``encode(_:)``.
  package static func leafCount(of text: String) -> Int {
    var text = text
    return text.withUTF8 { utf8 in
      var (count, position) = (0, 0)
      while position < utf8.count {
        switch utf8[position] {
        case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ","),
          UInt8(ascii: ":"):
          position += 1
        case UInt8(ascii: "\""):
          position = end(ofString: position, in: utf8)
          // A string followed by a colon is a key.
          if position >= utf8.count || utf8[position] != UInt8(ascii: ":") { count += 1 }
        default:
          count += 1
          position =
            utf8[position...].firstIndex { [UInt8(ascii: ","), .init(ascii: "}"), .init(ascii: "]")].contains($0) }
            ?? utf8.count
        }
      }
      return count
    }
  }

  /// Returns the position after the string that begins at a quotation mark.
  private static func end(ofString start: Int, in utf8: UnsafeBufferPointer<UInt8>) -> Int {
    var position = start + 1
    while position < utf8.count, utf8[position] != UInt8(ascii: "\"") {
      position += utf8[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    return position + 1
  }
}
