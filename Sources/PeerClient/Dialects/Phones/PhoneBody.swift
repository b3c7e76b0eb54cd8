import Foundation
import HealthModel

/// The body of an app's answer, weighed before it is decoded: a few bytes of JSON can take a hundred times their size, or
/// more of the stack than there is.
enum PhoneBody {
  /// Ten thousand rows of ten members weigh some 800,000, and none is nested deeper than six.
  static let budget = JSONBudget(bytes: 16 << 20, weight: 2_000_000, depth: 16)

  /// The most commas and colons in all texts of a page that are decoded by themselves, which ``budget`` takes for one value
  /// each: of a thousand rows with sixty members.
  private static let mostNested = 120_000

  /// Whether JSON in texts of a page may be decoded. Those in its texts count, too.
  static func fits(nested texts: some Sequence<String>) -> Bool {
    var count = 0
    for text in texts {
      count += text.utf8.count { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: ":") }
      if count > mostNested { return false }
    }
    return true
  }

  /// What a body is that is not decoded.
  struct Excess: Error {}

  /// Throws ``Excess``, or `DecodingError` for what is something else.
  static func decode<Content: Decodable>(_ type: Content.Type, _ body: [UInt8]) throws -> Content {
    guard body.withUnsafeBytes({ budget.verdict(on: $0) }) == .fits else { throw Excess() }
    return try JSONDecoder().decode(type, from: Data(body))
  }
}
