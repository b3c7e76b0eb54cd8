import Foundation
import HealthModel
import Testing

@testable import HealthFormats

/// Tests that the parser agrees with Foundation about valid JSON and its content.
@Suite struct JSONParserTests {
  private func parsed(_ text: String) -> JSONValue? { try? JSONParser.parse(Array(text.utf8)[...]) }

  @Test(arguments: [
    "null", "true", " [1 , -2.5e3,\t\"x\"] ", "{}", "[]", #"{"a":{"b":[]},"é":"\u00e9\ud83d\ude34\n\/\\\""}"#, "0",
    "-0", "1.0",
    "1e2", "9223372036854775807", "9223372036854775808", "0.1", #""\u0000""#, "12345678901234567890.5",
  ])
  func whatIsJSONSaysTheSame(text: String) throws {
    #expect(parsed(text) == (try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))))
  }

  @Test(arguments: [
    "", "nul", "tru", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":}", "{a:1}", "01", "1.", ".5", "+1", "1e", "\"a", "\"\u{1}\"",
    #""\x""#, #""\u12""#, #""\u+123""#, #""\ud800""#, "[1]]", "1 2", "--1", "NaN",
  ])
  func whatIsNoneIsRefused(text: String) {
    #expect(parsed(text) == nil)
  }

  @Test func aTextThatIsNotUTF8IsRefused() {
    #expect((try? JSONParser.parse([0x22, 0xFF, 0x22])) == nil)
  }

  @Test func theFailureSaysWhere() {
    #expect(throws: JSONParser.Failure.self) { try JSONParser.parse(Array(#"{"a":[1,x]}"#.utf8)[...]) }
    do throws(JSONParser.Failure) {
      _ = try JSONParser.parse(Array(#"{"a":[1,x]}"#.utf8)[...])
    } catch {
      #expect(error.offset == 8)
    }
  }
}
