import Foundation
import HealthModel

/// The FHIR resource of a clinical record, out of its file.
enum ClinicalResource {
  static let maximumBytes: Int64 = 4 << 20
  /// Far deeper than any resource, and little enough for decoders, which stop at 512.
  static let maximumDepth = 100

  /// - Returns: the resource, and whether it is JSON; what is not, or holds more than a payload may, is kept as text.
  static func read(_ bytes: [UInt8]) -> (resource: JSONValue, isJSON: Bool) {
    if depth(bytes) <= maximumDepth, bytes.withUnsafeBytes({ JSONBudget.payload.verdict(on: $0) }) == .fits,
      let value = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes))
    {
      return (value, true)
    }
    return (.string(String(decoding: bytes, as: UTF8.self)), false)
  }

  private static func depth(_ bytes: [UInt8]) -> Int {
    var (depth, deepest) = (0, 0)
    var isInString = false
    var isEscaped = false
    for byte in bytes {
      if isInString {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isInString = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isInString = true
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        deepest = max(deepest, depth)
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
    }
    return deepest
  }
}
