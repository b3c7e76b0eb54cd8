import Foundation
import HealthModel
import TestSupport
import Testing

@Suite("JSON that is kept as it is") struct PlainJSONTests {
  /// Returns a random value with few levels and with extreme texts and numbers.
  private static func value(_ random: inout SeededGenerator, depth: Int = 4) -> JSONValue {
    let texts = [
      "", "a", "é", "e\u{301}", "\"", "\\", "/", "\n", "\r\t", "\u{8}", "\u{c}", "\0", "\u{1f}", "\u{7f}", "\u{2028}",
      "😴", "</a>",
    ]
    let numbers = [
      0.5, -0.5, 0.1, 1e-4, 1e-5, 1.5e-7, 1e15, 1e16, 1e17, 1.5e300, -1e300, Double.leastNonzeroMagnitude, .pi,
      123456.789, 0.1 + 0.2, 2.5e18,
      1e19,
      52.520008,
    ]
    switch Int.random(in: 0..<(depth > 0 ? 8 : 6), using: &random) {
    case 0: return .null
    case 1: return .bool(Bool.random(using: &random))
    case 2: return .integer([0, -1, 7, .max, .min, 999_999_999_999_999_999].randomElement(using: &random) ?? 0)
    case 3, 4:
      let number = numbers.randomElement(using: &random) ?? 0
      return Int64(exactly: number).map(JSONValue.integer) ?? .number(number)
    case 5: return .string((0..<3).map { _ in texts.randomElement(using: &random) ?? "" }.joined())
    case 6: return .array((0..<Int.random(in: 0..<4, using: &random)).map { _ in value(&random, depth: depth - 1) })
    default:
      let names = ["", "a", "b", "B", "aa", "é", "e\u{301}", "a\"", "a/b", "10", "9"]
      let entries = (0..<Int.random(in: 0..<5, using: &random)).map { _ in
        (names.randomElement(using: &random) ?? "", value(&random, depth: depth - 1))
      }
      return .object(Dictionary(entries) { first, _ in first })
    }
  }

  @Test("what is recognised is what an encoder makes of it, and most is")
  func encoded() throws {
    var random = SeededGenerator(seed: 1)
    var recognised = 0
    for _ in 0..<5_000 {
      let value = Self.value(&random)
      let text = try CanonicalJSON.encode(value)
      #expect(try CodedPayload(.unknown(kind: "of tomorrow", content: value)).json == text)
      guard CanonicalJSON.isPlain(text) else { continue }
      recognised += 1
      #expect(try CanonicalJSON.encode(CanonicalJSON.decode(JSONValue.self, text)) == text)
    }
    #expect(recognised > 3_000)
  }

  /// A text with changed bytes either isn't recognized or equals an encoder's result.
  @Test("a changed text is looked at")
  func mutated() throws {
    var random = SeededGenerator(seed: 2)
    let letters = Array(#"{}[]",:\\0123456789.eE+-truefalsnl /aZé"#.utf8)
    var recognised = 0
    for _ in 0..<20_000 {
      var bytes = Array(try CanonicalJSON.encode(Self.value(&random, depth: 2)).utf8)
      for _ in 0..<Int.random(in: 1...2, using: &random) {
        let place = Int.random(in: bytes.indices, using: &random)
        let letter = letters.randomElement(using: &random) ?? 0
        if Bool.random(using: &random) { bytes[place] = letter } else { bytes.insert(letter, at: place) }
      }
      guard let text = String(validating: bytes, as: UTF8.self), CanonicalJSON.isPlain(text) else { continue }
      recognised += 1
      #expect(try CanonicalJSON.encode(CanonicalJSON.decode(JSONValue.self, text)) == text)
    }
    #expect(recognised > 100)
  }

  @Test(
    "others are decoded",
    arguments: [
      "", " 1", "1 ", "01", "-0", "1.0", "1.50", "1e3", "1E5", "0.00001", "+1", ".5", "1.", "nan", "1e400", "\"",
      "\"\\/\"", "\"\\u0041\"",
      "\"\u{1}\"", "[", "[1", "[1,]", "[,1]", "{}{}", #"{"b":1,"a":2}"#, #"{"a":1,"a":2}"#, #"{"é":1}"#, #"{a:1}"#,
      #"{"a"}"#,
      "tru", "nul", "123456789012345678901234567890",
      String(repeating: "[", count: 200) + String(repeating: "]", count: 200), String(repeating: "[", count: 100_000),
    ])
  func others(text: String) {
    #expect(!CanonicalJSON.isPlain(text))
  }
}
