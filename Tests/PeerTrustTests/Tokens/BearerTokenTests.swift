import Cryptography
import Foundation
import PeerProtocol
import Testing

@testable import PeerTrust

@Suite struct BearerTokenTests {
  @Test func textRoundTrip() throws {
    for _ in 0..<50 {
      let token = BearerToken.random()
      #expect(token.text.utf8.count == 43)
      #expect(!token.text.contains(where: { "+/=".contains($0) }))
      #expect(BearerToken(text: token.text) == token)
    }
  }

  @Test func knownSpelling() throws {
    let token = try #require(BearerToken(bytes: [UInt8](repeating: 0xfb, count: 32)))
    #expect(token.text == "-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s")
  }

  /// The expected value is the SHA-256 of 32 zero bytes.
  @Test func hashIsSHA256OfTheBytes() throws {
    let token = try #require(BearerToken(bytes: [UInt8](repeating: 0, count: 32)))
    #expect(try token.hash.bytes == hex("66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925"))
    #expect(token.hash.tokenID == "66687aadf862bd77")
  }

  @Test(
    arguments: [
      "", String(repeating: "A", count: 42), String(repeating: "A", count: 44), String(repeating: "A", count: 42) + "=",
      String(repeating: "A", count: 42) + "+", String(repeating: "A", count: 42) + " ",
      String(repeating: "A", count: 42) + "B",
      String(repeating: "é", count: 43), String(repeating: "\u{0}", count: 43),
    ])
  func refusesOtherText(text: String) { #expect(BearerToken(text: text) == nil) }

  @Test func secretsAreNotDescribed() throws {
    let token = BearerToken.random()
    let credential = BearerCredential(token)
    var dumped = ""
    dump([token], to: &dumped)
    dump([credential], to: &dumped)
    for text in [
      "\(token)", String(reflecting: token), "\([token])", "\(credential)", String(reflecting: credential), dumped,
    ] {
      #expect(!text.contains(token.text))
      #expect(!text.contains(token.text.prefix(8)))
    }
  }

  @Test func credentialsFitAHeader() throws {
    #expect(BearerCredential(text: "0123456789ABCDEF0123456789ABCDEF")?.text == "0123456789ABCDEF0123456789ABCDEF")
    for text in ["", "a b", "a\r\nX: y", "é", String(repeating: "a", count: 513)] {
      #expect(BearerCredential(text: text) == nil)
    }
  }

  @Test func constantTimeEqualityIsEquality() {
    #expect(ConstantTime.equal([], []))
    #expect(ConstantTime.equal([1, 2], [1, 2]))
    #expect(!ConstantTime.equal([1, 2], [1, 3]))
    #expect(!ConstantTime.equal([1, 2], [1, 2, 0]))
  }
}

@Suite struct RandomCodeTests {
  struct Scripted: RandomNumberGenerator {
    var words: [UInt32]

    mutating func next() -> UInt64 { UInt64(words.removeFirst()) }
  }

  /// 4,294 million numbers are divided evenly among the codes. Numbers beyond are rejected.
  @Test func rejectsTheIncompleteLastMillion() {
    var generator = Scripted(words: [4_294_000_000, .max, 4_293_999_999])
    #expect(PairingCode.random(using: &generator).digits == "999999")
    generator = Scripted(words: [42_195])
    #expect(PairingCode.random(using: &generator).digits == "042195")
  }

  @Test func systemCodesVary() {
    #expect(Set((0..<100).map { _ in PairingCode.random().digits }).count > 90)
  }
}
