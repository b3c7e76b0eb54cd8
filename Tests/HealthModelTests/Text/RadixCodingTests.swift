import Foundation
import Testing

@testable import HealthModel

@Suite("Bytes as text")
struct RadixCodingTests {
  /// The test vectors of RFC 4648 section 10 without padding, and the two characters that differ in URL-safe base 64.
  private static let vectors: [(bytes: [UInt8], hex: String, base32: String, base64: String)] = [
    ([], "", "", ""), (Array("f".utf8), "66", "MY", "Zg"), (Array("fo".utf8), "666f", "MZXQ", "Zm8"),
    (Array("foo".utf8), "666f6f", "MZXW6", "Zm9v"), (Array("foob".utf8), "666f6f62", "MZXW6YQ", "Zm9vYg"),
    (Array("fooba".utf8), "666f6f6261", "MZXW6YTB", "Zm9vYmE"),
    (Array("foobar".utf8), "666f6f626172", "MZXW6YTBOI", "Zm9vYmFy"), ([0xFB, 0xFF], "fbff", "7P7Q", "-_8"),
    ([0xFF, 0xFF, 0xFF], "ffffff", "77776", "____"), ([0, 0, 0, 0], "00000000", "AAAAAAA", "AAAAAA"),
  ]

  @Test("the vectors of the RFC, both ways")
  func vectors() {
    for vector in Self.vectors {
      for (coding, text) in [
        (RadixCoding.hex, vector.hex), (.base32, vector.base32), (.base64URL, vector.base64),
      ] {
        #expect(coding.encode(vector.bytes) == text)
        #expect(coding.decode(text) == vector.bytes, "\(text)")
      }
      #expect(RadixCoding.hex.decode(vector.hex.uppercased()) == vector.bytes)
      #expect(RadixCoding.base32.decode(vector.base32.lowercased()) == vector.bytes)
    }
  }

  @Test("every byte, at every place")
  func everyByte() {
    for coding in [RadixCoding.hex, .base32, .base64URL] {
      for count in 0..<40 {
        for value in stride(from: 0, to: 256, by: count < 6 ? 1 : 51) {
          let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value &+ $0 &* 97) }
          #expect(coding.decode(coding.encode(bytes)) == bytes)
        }
      }
    }
  }

  @Test("agrees with Foundation about bytes of any count")
  func foundation() {
    for count in 0..<100 {
      let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ count) }
      let standard = Data(bytes).base64EncodedString()
      let expected = standard.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
      #expect(RadixCoding.base64URL.encode(bytes) == expected)
      #expect(RadixCoding.base64URL.decode(expected) == bytes)
    }
  }

  @Test(
    "anything but the one spelling of some bytes is refused",
    arguments: [
      "A", "AAAAA", "Zh", "Zm9", "Zg==", "Zg=", "Zm9vYmF/", "Zm9vYmF+", "Zm 9v", "Zm9v\n", "\u{FF21}AAA", "Zm9\u{0}",
      "Zg\u{301}",
    ])
  func otherSpellingsOfBase64(text: String) {
    #expect(RadixCoding.base64URL.decode(text) == nil)
  }

  @Test(
    "so it is of hexadecimal digits and of base 32",
    arguments: [
      (RadixCoding.hex, ["0", "abc", "0g", "0x00", " 00", "00\n", "+1", "-1", "\u{FF10}0", "0\u{301}", "\u{0}0"]),
      (.base32, ["A", "AAA", "AAAAAA", "MZ", "MZXR", "M1", "M8", "MY==", "M Y", "MY\n", "\u{131}A", "\u{17F}A"]),
    ])
  func otherSpellings(coding: RadixCoding, texts: [String]) {
    for text in texts { #expect(coding.decode(text) == nil, "\(text)") }
  }
}
