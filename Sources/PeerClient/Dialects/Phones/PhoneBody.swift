import Foundation
import HealthModel

/// The body of an app's answer, weighed before it is decoded: a few bytes of JSON can take a hundred times their size, or
/// more of the stack than there is.
enum PhoneBody {
  /// Ten thousand rows of ten members weigh some 800,000, and none is nested deeper than six.
  static let budget = JSONBudget(bytes: 16 << 20, weight: 2_000_000, depth: 16)

  /// What a body is that is not decoded.
  struct Excess: Error {}

  /// Throws ``Excess``, or `DecodingError` for what is something else.
  static func decode<Content: Decodable>(_ type: Content.Type, _ body: [UInt8]) throws -> Content {
    guard body.withUnsafeBytes({ budget.verdict(on: $0) }) == .fits else { throw Excess() }
    return try JSONDecoder().decode(type, from: Data(body))
  }
}
