import Cryptography
import HealthModel

/// JSON in the exact spelling of Python's `json` module, from which sqlite-utils derives row identifiers.
enum PythonJSON {
  case string(String)
  case array([PythonJSON])
  /// An object whose members are in this order; each name occurs once.
  case object([(String, PythonJSON)])

  /// The text that `json.dumps(…, ensure_ascii=False)` returns.
  var text: String {
    var bytes: [UInt8] = []
    append(to: &bytes, isCompact: false)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The hexadecimal SHA-1 of `json.dumps(…, separators=(",", ":"), sort_keys=True)`, sqlite-utils's row identifier.
  var hash: String {
    var bytes: [UInt8] = []
    append(to: &bytes, isCompact: true)
    return Insecure.SHA1.hash(data: bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private func append(to bytes: inout [UInt8], isCompact: Bool) {
    let (comma, colon) = isCompact ? (",", ":") : (", ", ": ")
    switch self {
    case .string(let text): Self.append(text, to: &bytes, isASCII: isCompact)
    case .array(let elements):
      bytes.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { bytes.append(contentsOf: comma.utf8) }
        element.append(to: &bytes, isCompact: isCompact)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      // Python sorts by code points, which is the order of the bytes.
      let order = isCompact ? members.sorted { $0.0.utf8.lexicographicallyPrecedes($1.0.utf8) } : members
      for (index, member) in order.enumerated() {
        if index > 0 { bytes.append(contentsOf: comma.utf8) }
        Self.append(member.0, to: &bytes, isASCII: isCompact)
        bytes.append(contentsOf: colon.utf8)
        member.1.append(to: &bytes, isCompact: isCompact)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  private static func append(_ text: String, to bytes: inout [UInt8], isASCII: Bool) {
    bytes.append(UInt8(ascii: "\""))
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": bytes.append(contentsOf: #"\""#.utf8)
      case "\\": bytes.append(contentsOf: #"\\"#.utf8)
      case "\n": bytes.append(contentsOf: #"\n"#.utf8)
      case "\r": bytes.append(contentsOf: #"\r"#.utf8)
      case "\t": bytes.append(contentsOf: #"\t"#.utf8)
      case "\u{8}": bytes.append(contentsOf: #"\b"#.utf8)
      case "\u{C}": bytes.append(contentsOf: #"\f"#.utf8)
      case " "..."~": bytes.append(UInt8(truncatingIfNeeded: scalar.value))
      case "\u{7F}"... where !isASCII: bytes.append(contentsOf: String(scalar).utf8)
      default:
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          bytes.append(contentsOf: (#"\u"# + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
        }
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
