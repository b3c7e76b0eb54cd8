import Foundation
import HealthModel

/// A decoder for bodies of an app's answers that checks their cost first: a few bytes of JSON can take a hundred
/// times their size in memory, or overflow the stack.
enum PhoneBody {
  /// The budget of one body. Ten thousand rows of ten members weigh about 800,000, and none is nested deeper than
  /// six.
  static let budget = JSONBudget(bytes: 16 << 20, weight: 2_000_000, depth: 16)

  /// The maximum number of commas and colons in all texts of a page that contain JSON themselves, which ``budget``
  /// counts as one value each. A thousand rows with sixty members have so many.
  private static let mostNested = 120_000

  /// Returns whether the nested JSON texts of a page may be decoded. Commas and colons inside their strings count,
  /// too.
  static func fits(nested texts: some Sequence<String>) -> Bool {
    var count = 0
    for text in texts {
      count += text.utf8.count { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ":") }
      if count > mostNested { return false }
    }
    return true
  }

  /// An error for a body that exceeds the budget and was not decoded.
  struct Excess: Error {}

  /// Decodes a body. Throws ``Excess``, or `DecodingError` for any other content.
  static func decode<Content: Decodable>(_ type: Content.Type, _ body: [UInt8]) throws -> Content {
    guard body.withUnsafeBytes({ budget.verdict(on: $0) }) == .fits else { throw Excess() }
    return try JSONDecoder().decode(type, from: Data(body))
  }
}
