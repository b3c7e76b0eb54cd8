import Foundation
import HealthModel

/// Escaping and formatting of text for HTML and SVG. Untrusted text can neither end its element nor reverse a line.
enum HTMLText {
  /// The maximum number of Unicode scalars; longer texts are cut.
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
      // Control characters, and characters that mark, embed, override or isolate a direction.
      case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value),
        _ where (0x200E...0x200F).contains(scalar.value) || (0x202A...0x202E).contains(scalar.value),
        _ where (0x2066...0x2069).contains(scalar.value):
        result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// Returns an untrusted name, isolated because it may run in either direction.
  static func name(_ text: String) -> String { "<bdi>\(escaped(text))</bdi>" }

  /// Returns a number such as `1 234.5`, grouped by narrow spaces, with at most `digits` decimals; a number below 1
  /// has three significant digits.
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

/// The style sheet of a report, made for paper.
enum ReportStyle {
  static let css = """
    @page { size: A4; margin: 12mm 15mm; }
    * { box-sizing: border-box; }
    html { font: 9pt/1.3 "Noto Sans", "DejaVu Sans", Helvetica, Arial, sans-serif; color: #111; background: #fff; }
    body { margin: 0 auto; max-width: 180mm; padding: 8mm 0; }
    h1 { font-size: 17pt; margin: 0 0 1mm; }
    h2 { font-size: 11.5pt; margin: 4mm 0 1mm; border-bottom: 0.3mm solid #111; padding-bottom: 0.5mm; }
    h3 { font-size: 9.5pt; margin: 2mm 0 0; }
    p { margin: 1mm 0; }
    header p { color: #333; }
    table { border-collapse: collapse; width: 100%; font-size: 8pt; }
    th, td { padding: 0.7mm 1.2mm; text-align: left; vertical-align: top; border-bottom: 0.15mm solid #bbb; }
    thead th { font-weight: 600; text-align: right; }
    thead th.text { text-align: left; }
    tbody th { font-weight: 400; padding-left: 0; }
    .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
    .unit { color: #444; }
    svg { display: block; width: 100%; height: auto; margin: 1mm 0; }
    svg.strip { width: auto; max-width: none; }
    ul.columns { columns: 4; column-gap: 4mm; list-style: none; padding: 0; margin: 1mm 0; font-size: 8.5pt; }
    footer { margin-top: 5mm; color: #444; font-size: 8pt; }
    section section { break-inside: avoid; }
    @media print { body { padding: 0; max-width: none; } .page + .page { break-before: page; } }
    """
}
