import Foundation
import HealthModel

/// Text for HTML and SVG: nothing that came from elsewhere can end what it stands in, or turn a line around.
enum HTMLText {
  /// Longer names are cut.
  private static let limit = 200

  static func escaped(_ text: String) -> String {
    var result = ""
    for (index, scalar) in text.unicodeScalars.enumerated() {
      if index == limit { return result + "…" }
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      // Controls, and what embeds, overrides or isolates a direction.
      case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value),
        _ where (0x200E...0x200F).contains(scalar.value) || (0x202A...0x202E).contains(scalar.value),
        _ where (0x2066...0x2069).contains(scalar.value):
        result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// A name that somebody gave, whatever its direction.
  static func name(_ text: String) -> String { "<bdi>\(escaped(text))</bdi>" }

  /// `1 234.5`: groups of three with a narrow space, and no more digits than asked for; of less than 1, three that count.
  static func number(_ value: Double, digits: Int = 1) -> String {
    guard value.isFinite, value.magnitude < 1e12 else { return "–" }
    let small =
      digits > 0 && value.magnitude < 1 && value != 0 ? 2 - Int(max(-10, log10(value.magnitude).rounded(.down))) : 0
    let digits = max(min(max(digits, 0), 3), small)
    let scale = pow(10, Double(digits))
    let rounded = Int((value.magnitude * scale).rounded())
    let (whole, rest) = rounded.quotientAndRemainder(dividingBy: Int(scale))
    var text = ""
    for (index, digit) in String(whole).reversed().enumerated() {
      if index > 0, index.isMultiple(of: 3) { text = "\u{202F}" + text }
      text = "\(digit)" + text
    }
    if rest > 0 {
      let fraction = String(rest)
      let zeros = String(repeating: "0", count: digits - fraction.count)
      text += "." + String((zeros + fraction).reversed().drop { $0 == "0" }.reversed())
    }
    return value < 0 && rounded > 0 ? "−" + text : text
  }
}
