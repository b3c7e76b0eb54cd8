import Foundation
import HealthModel

/// The FHIR resource of a clinical record, out of its file.
enum ClinicalResource {
  static let maximumBytes: Int64 = 4 << 20
  /// Far deeper than any resource, and little enough for decoders, which stop at 512.
  private static let budget = JSONBudget(bytes: Int(maximumBytes), weight: JSONBudget.payload.weight, depth: 100)

  /// - Returns: the resource, and whether it is JSON; what is not, or holds more than a payload may, is kept as text.
  static func read(_ bytes: [UInt8]) -> (resource: JSONValue, isJSON: Bool) {
    if bytes.withUnsafeBytes({ budget.verdict(on: $0) }) == .fits,
      let value = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes))
    {
      return (value, true)
    }
    return (.string(String(decoding: bytes, as: UTF8.self)), false)
  }
}
