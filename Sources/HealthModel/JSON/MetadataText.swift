/// ``Metadata`` as the text of one JSON object (RFC 8259): keys in ascending order of their UTF-8 bytes, no white space,
/// and nothing escaped that need not be. Metadata that are exactly equal have equal texts.
///
/// Written by hand, because a third of all samples have metadata and an encoder takes longer than all the rest.
public enum MetadataText {
  /// `{}` for empty metadata. Numbers that are not finite become text: `{"number":"nan"}`.
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

  /// Whether a text is surely one that ``encode(_:)`` makes of some metadata, and ``CanonicalJSON`` too. False also for one
  /// that holds escapes, fractions, dates or keys beyond ASCII: whoever decodes and encodes those again has the same text,
  /// or learns that it is none.
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
