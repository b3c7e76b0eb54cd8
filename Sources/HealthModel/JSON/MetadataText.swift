/// ``Metadata`` as the text of a JSON object (RFC 8259): keys in ascending order of their UTF-8, no white space, and
/// only necessary escapes. Metadata that are exactly equal have equal texts.
///
/// The encoder is handwritten because a third of all samples have metadata and a general encoder would dominate the
/// cost.
public enum MetadataText {
  /// Returns the text of metadata, `{}` if empty. Non-finite numbers become text: `{"number":"nan"}`.
  public static func encode(_ metadata: Metadata) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(64)
    bytes.append(UInt8(ascii: "{"))
    let entries = metadata.count < 2 ? Array(metadata) : metadata.sorted { precedes($0.key, $1.key) }
    for (index, (key, value)) in entries.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes.append(quoted: key, shortly: false)
      bytes.append(UInt8(ascii: ":"))
      append(value, to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns whether a text is certainly the output of both ``encode(_:)`` and ``CanonicalJSON`` for some metadata.
  /// Returns false also for texts with escapes, fractions, dates or non-ASCII keys: decode and encode those again to
  /// find out.
  public static func isPlain(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { utf8 in
      var scanner = PlainJSONScanner(utf8)
      return scanner.isMetadata()
    }
  }

  private static func precedes(_ left: String, _ right: String) -> Bool {
    left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  private static func append(_ value: MetadataValue, to bytes: inout [UInt8]) {
    switch value {
    case .string(let text): bytes.append(quoted: text, shortly: false)
    case .integer(let integer): bytes.append(contentsOf: String(integer).utf8)
    case .bool(let flag): bytes.append(contentsOf: (flag ? "true" : "false").utf8)
    case .number(let number):
      let digits = number.isFinite ? "\(number)" : number.isNaN ? "\"nan\"" : number < 0 ? "\"-inf\"" : "\"inf\""
      bytes.append(contentsOf: "{\"number\":\(digits)}".utf8)
    case .date(let date): bytes.append(contentsOf: "{\"date\":\"\(date.iso8601)\"}".utf8)
    }
  }
}
