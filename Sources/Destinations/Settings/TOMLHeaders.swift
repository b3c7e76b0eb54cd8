import Foundation

/// Finds headers of tables without a name, such as `[` and nothing else, at which TOMLKit's parser ends the process.
enum TOMLHeaders {
  /// The first line with one, from 1; `nil` where there is none.
  static func firstWithoutName(_ text: String) -> Int? {
    // Within a text of several lines, until these quotation marks.
    var closing: String?
    let scalars = text.unicodeScalars
    for line in scalars.split(omittingEmptySubsequences: false, whereSeparator: isLineBreak) {
      var rest = String(line)
      if let quotation = closing {
        guard let end = rest.range(of: quotation) else { continue }
        rest = String(rest[end.upperBound...])
        closing = nil
      } else if isHeaderWithoutName(line) {
        return scalars[..<line.startIndex].count { $0 == "\n" } + 1
      }
      while let opening = opening(in: rest) {
        rest = String(rest[opening.upperBound...])
        guard let end = rest.range(of: opening.quotation) else {
          closing = opening.quotation
          break
        }
        rest = String(rest[end.upperBound...])
      }
    }
    return nil
  }

  private static func opening(in text: String) -> (quotation: String, upperBound: String.Index)? {
    let found = ["\"\"\"", "'''"].compactMap { quotation in text.range(of: quotation).map { (quotation, $0) } }
    return found.min { $0.1.lowerBound < $1.1.lowerBound }.map { ($0.0, $0.1.upperBound) }
  }

  private static func isHeaderWithoutName(_ line: Substring.UnicodeScalarView) -> Bool {
    var rest = line.drop(while: isBlank)
    guard rest.first == "[" else { return false }
    rest = rest.dropFirst()
    if rest.first == "[" { rest = rest.dropFirst() }
    guard let first = rest.drop(while: isBlank).first else { return true }
    return !(first.isASCII && (first.properties.isAlphabetic || "0123456789_-\"'".unicodeScalars.contains(first)))
  }

  /// All that the parser takes for the end of a line, and some more.
  private static func isLineBreak(_ scalar: Unicode.Scalar) -> Bool {
    ["\n", "\r", "\u{B}", "\u{C}", "\u{85}", "\u{2028}", "\u{2029}"].contains(scalar)
  }

  private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.isWhitespace || ["\u{180E}", "\u{200B}", "\u{2060}", "\u{FEFF}"].contains(scalar)
  }
}
