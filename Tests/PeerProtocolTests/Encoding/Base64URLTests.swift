import Foundation
import Testing

@testable import PeerProtocol

@Suite("Base64URL")
struct Base64URLTests {
  /// RFC 4648 section 10, without the padding, and both characters that differ from plain base 64.
  private static let vectors: [(bytes: [UInt8], text: String)] = [
    ([], ""), (Array("f".utf8), "Zg"), (Array("fo".utf8), "Zm8"), (Array("foo".utf8), "Zm9v"),
    (Array("foob".utf8), "Zm9vYg"), (Array("fooba".utf8), "Zm9vYmE"), (Array("foobar".utf8), "Zm9vYmFy"),
    ([0xFB, 0xFF], "-_8"), ([0xFF, 0xFF, 0xFF], "____"), ([0, 0, 0, 0], "AAAAAA"),
  ]

  @Test("the vectors of the RFC, both ways")
  func vectors() {
    for (bytes, text) in Self.vectors {
      #expect(Base64URL.encode(bytes) == text)
      #expect(Base64URL.decode(text) == bytes, "\(text)")
    }
  }

  @Test("agrees with Foundation about bytes of any count")
  func foundation() {
    for count in 0..<100 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ count) }
      let standard = Data(bytes).base64EncodedString()
      let expected = standard.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
      #expect(Base64URL.encode(bytes) == expected)
      #expect(Base64URL.decode(expected) == bytes)
    }
  }

  @Test(
    "anything but the one spelling of some bytes is refused",
    arguments: [
      "A", "AAAAA", "Zh", "Zm9", "Zg==", "Zg=", "Zm9vYmF/", "Zm9vYmF+", "Zm 9v", "Zm9v\n", "\u{FF21}AAA", "Zm9\u{0}",
      "Zg\u{301}",
    ])
  func otherSpellings(text: String) {
    #expect(Base64URL.decode(text) == nil)
  }
}
