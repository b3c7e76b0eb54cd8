import Foundation

extension ClientLimits {
  /// Whether the JSON of a digest holds no more than one may.
  public func allowDigest(_ json: Data) -> Bool {
    json.withUnsafeBytes { JSONBudget.verdict(on: $0, weight: digestWeight, depth: jsonDepth) == .fits }
  }
}

/// Weighs what a JSON text (RFC 8259) holds before any of it is decoded: a value takes two bytes in the text, and fifty when
/// decoded. An object and a key take more than an element; and what is nested deeper than ``plain``, whose place is named
/// anew for each value, the more the deeper it is.
enum JSONBudget {
  enum Verdict: Hashable {
    case fits
    case tooHeavy
    case tooDeep
  }

  private static let (element, member) = (2, 6)
  private static let plain = 16

  /// Says nothing about whether the text is JSON.
  ///
  /// - Parameters:
  ///   - weight: of all values; two for an element of an array, six for an object, and six for a key.
  ///   - depth: how deep they may be nested.
  static func verdict(on text: UnsafeRawBufferPointer, weight: Int, depth: Int) -> Verdict {
    var (sum, level, index) = (0, 0, 0)
    while index < text.count {
      switch text[index] {
      case UInt8(ascii: "\""):
        index += 1
        while index < text.count, text[index] != UInt8(ascii: "\"") {
          index += text[index] == UInt8(ascii: "\\") ? 2 : 1
        }
      case UInt8(ascii: ","): sum += element * max(1, level - plain)
      case UInt8(ascii: ":"): sum += member * max(1, level - plain)
      case UInt8(ascii: "["), UInt8(ascii: "{"):
        level += 1
        sum += (text[index] == UInt8(ascii: "{") ? member : element) * max(1, level - plain)
        if level > depth { return .tooDeep }
      case UInt8(ascii: "]"), UInt8(ascii: "}"): level -= 1
      default: break
      }
      if sum > weight { return .tooHeavy }
      index += 1
    }
    return .fits
  }

  static func verdict(on text: String, weight: Int, depth: Int) -> Verdict {
    var text = text
    return text.withUTF8 { utf8 in verdict(on: UnsafeRawBufferPointer(utf8), weight: weight, depth: depth) }
  }

  static func verdict(on text: String, _ limits: ClientLimits) -> Verdict {
    verdict(on: text, weight: limits.jsonWeight, depth: limits.jsonDepth)
  }
}
