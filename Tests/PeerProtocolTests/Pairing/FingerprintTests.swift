import Foundation
import PeerProtocol
import Testing

@Suite struct FingerprintTests {
  private let hex = "b246edeb156708df83e25cd859d93f8c3adb138a7b887d11abd7b2abe02fdb65"

  @Test func hexRoundTrip() throws {
    let fingerprint = try #require(Fingerprint(hex: hex))
    #expect(fingerprint.hex == hex)
    #expect(fingerprint.bytes.count == 32)
    #expect("\(fingerprint)" == hex)
  }

  @Test func readsUpperCaseAndSeparators() throws {
    let colons = stride(from: 0, to: 64, by: 2).map { String(hex.dropFirst($0).prefix(2)).uppercased() }.joined(
      separator: ":")
    #expect(Fingerprint(hex: colons)?.hex == hex)
    #expect(Fingerprint(hex: Fingerprint(hex: hex)?.grouped ?? "")?.hex == hex)
  }

  @Test func readsWhatIsCopiedFromAScreen() throws {
    let colons = stride(from: 0, to: 64, by: 2).map { String(hex.dropFirst($0).prefix(2)).uppercased() }.joined(
      separator: ":")
    for text in [
      hex, hex.uppercased(), colons, "  \(colons)\n", colons.replacing(":", with: " "), "SHA256:" + hex,
      "sha256:" + colons, "sha256 Fingerprint=" + colons,
    ] {
      #expect(Fingerprint(shown: text)?.hex == hex, "\(text)")
    }
    for text in [
      "", "sha256:", "=", hex + "0", String(hex.dropLast()), "md5:" + hex, String(repeating: " ", count: 9_999),
    ] {
      #expect(Fingerprint(shown: text) == nil, "\(text)")
    }
  }

  @Test func base32RoundTrip() throws {
    let fingerprint = try #require(Fingerprint(hex: hex))
    #expect(fingerprint.base32.utf8.count == 52)
    #expect(Fingerprint(base32: fingerprint.base32) == fingerprint)
    #expect(Fingerprint(base32: fingerprint.base32.lowercased()) == fingerprint)
  }

  @Test func base32HasOneSpelling() throws {
    let fingerprint = try #require(Fingerprint(bytes: [UInt8](repeating: 0, count: 32)))
    // The last of the 52 characters holds one bit of the hash; the other four must be zero.
    #expect(Fingerprint(base32: String(fingerprint.base32.dropLast()) + "B") == nil)
    #expect(Fingerprint(base32: fingerprint.base32 + "A") == nil)
    #expect(Fingerprint(base32: String(fingerprint.base32.dropLast())) == nil)
  }

  @Test(arguments: [
    "", "b2", "zz", String(repeating: "0", count: 63), String(repeating: "0", count: 66),
    String(repeating: "é", count: 32),
  ])
  func refusesOtherText(text: String) {
    #expect(Fingerprint(hex: text) == nil)
    #expect(Fingerprint(base32: text) == nil)
  }

  @Test func refusesHugeText() {
    #expect(Fingerprint(hex: String(repeating: ":", count: 1_000_000)) == nil)
    #expect(Fingerprint(base32: String(repeating: "A", count: 1_000_000)) == nil)
  }

  @Test func groupedFitsALine() throws {
    let fingerprint = try #require(Fingerprint(hex: hex))
    #expect(fingerprint.grouped == "b246edeb 156708df 83e25cd8 59d93f8c 3adb138a 7b887d11 abd7b2ab e02fdb65")
  }

  @Test func codesAsLowerCaseHex() throws {
    let fingerprint = try #require(Fingerprint(hex: hex.uppercased()))
    #expect(String(decoding: try JSONEncoder().encode([fingerprint]), as: UTF8.self) == "[\"\(hex)\"]")
    #expect(try JSONDecoder().decode([Fingerprint].self, from: Data("[\"\(hex)\"]".utf8)) == [fingerprint])
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([Fingerprint].self, from: Data("[\"b2\"]".utf8)) }
  }
}

@Suite struct PeerIDTests {
  private let hex = "202122232425262728292a2b2c2d2e2f"

  @Test func hexRoundTripAndShort() throws {
    let id = try #require(PeerID(hex: hex.uppercased()))
    #expect(id.hex == hex)
    #expect(id.short == "20212223")
    #expect(PeerID(bytes: id.bytes) == id)
  }

  @Test(arguments: [
    "", "20", "202122232425262728292a2b2c2d2e2", "202122232425262728292a2b2c2d2e2g",
    "202122232425262728292a2b2c2d2e2f20",
  ])
  func refusesOtherText(text: String) { #expect(PeerID(hex: text) == nil) }

  @Test func codesAsHex() throws {
    let id = try #require(PeerID(hex: hex))
    let json = try JSONEncoder().encode([id])
    #expect(String(decoding: json, as: UTF8.self) == "[\"\(hex)\"]")
    #expect(try JSONDecoder().decode([PeerID].self, from: json) == [id])
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([PeerID].self, from: Data("[\"\"]".utf8)) }
  }
}
