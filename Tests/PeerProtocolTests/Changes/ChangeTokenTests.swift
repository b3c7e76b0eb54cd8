import Foundation
import PeerProtocol
import Testing

@Suite struct ChangeTokenTests {
  static let store = UUID(
    uuid: (
      0x6B, 0x29, 0xFC, 0x40, 0xCA, 0x47, 0x10, 0x67, 0xB3, 0x1D, 0x00, 0xDD, 0x01, 0x06, 0x62, 0xDA
    ))

  /// Clients keep tokens, so their spelling is for ever.
  @Test(arguments: [
    (0, 0, "AWsp_EDKRxBnsx0A3QEGYtoAAAAAAAAAAAAAAAAAAAAA"),
    (258, 0xCBF2_9CE4_8422_2325, "AWsp_EDKRxBnsx0A3QEGYtoAAAAAAAABAsvynOSEIiMl"),
    (Int64.max, UInt64.max, "AWsp_EDKRxBnsx0A3QEGYtp_____________________"),
  ])
  func vectors(change: Int64, filter: UInt64, text: String) {
    let token = ChangeToken(store: Self.store, change: change, filter: filter)
    #expect(token.text == text)
    #expect(ChangeToken(text) == token)
  }

  @Test func aTokenHasOneSpelling() {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    let text = Array(ChangeToken(store: Self.store, change: 258, filter: 0xFBEF_BEFB_EFBE_FBEF).text)
    for index in text.indices {
      for character in alphabet {
        var other = text
        other[index] = character
        // Another version or a negative number is refused; all else is another token with this very text.
        if let token = ChangeToken(String(other)) { #expect(token.text == String(other)) }
      }
    }
  }

  private static let valid = "AWsp_EDKRxBnsx0A3QEGYtoAAAAAAAABAsvynOSEIiMl"

  private static let shortened = String(valid.dropLast(4))

  private static let hostile: [String] = [
    "", "A", "null", "0", "-1", "../../etc/passwd", "%00", "\(valid)A", "\(valid)=", "\(valid)AAAA", "\(valid)\n",
    "\n\(valid.dropFirst())", " \(valid.dropFirst())", shortened, "\(shortened)IiM", "\(shortened)IiM=",
    "\(shortened)IiM\0", "\(shortened)Ii==", "\(shortened)Iié", "\(shortened)😴",
    "/\(valid.dropFirst())", "+\(valid.dropFirst())", String(repeating: "=", count: 44),
    String(repeating: "\0", count: 44), String(repeating: "-\u{301}", count: 14) + "xx",
    String(repeating: "A", count: 100_000), String(repeating: "😴", count: 11),
  ]

  @Test(arguments: hostile)
  func refusesWhatIsNoToken(text: String) {
    #expect(ChangeToken(text) == nil)
  }

  @Test func refusesAnotherVersion() {
    for version in UInt8.min...UInt8.max where version != 1 {
      #expect(ChangeToken(Self.text([version] + [UInt8](repeating: 0, count: 32))) == nil)
    }
  }

  @Test func refusesANegativeChange() {
    for first in UInt8(0x80)...0xFF {
      var bytes = [UInt8](repeating: 1, count: 33)
      bytes[17] = first
      #expect(ChangeToken(Self.text(bytes)) == nil)
    }
  }

  @Test(arguments: [0, 1, 30, 31, 32, 34, 35, 36, 66])
  func refusesAnotherLength(count: Int) {
    #expect(ChangeToken(Self.text([UInt8](repeating: 1, count: count))) == nil)
  }

  private static func text(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
  }
}

@Suite struct FilterHashTests {
  /// FNV-1a, computed by another program: the hash is part of tokens that clients keep.
  @Test(
    arguments: [
      (nil, nil, 0x07E7_C307_B4AB_E8B4),
      ([], nil, 0xAF63_BC4C_8601_B62C),
      (["HKQuantityTypeIdentifierStepCount"], nil, 0xA9F9_A62F_920D_586C),
      (["HKQuantityTypeIdentifierStepCount", "HKQuantityTypeIdentifierHeartRate"], nil, 0x8B6B_DF0E_C669_DD33),
      (nil, 0, 0x1AB8_EA18_001C_184C),
      (nil, -1, 0x8495_3FC8_2FF9_983E),
      (["a"], 1_704_067_200_000_000, 0x939D_CCFC_2F3E_59C4),
      (["😴", ""], .min, 0x18A8_9DBD_8053_4ED1),
    ] as [([String]?, Int64?, UInt64)])
  func vectors(types: [String]?, earliest: Int64?, hash: UInt64) {
    #expect(ChangeToken.filterHash(types: types, earliest: earliest) == hash)
  }

  @Test func theOrderOfTypesDoesNotMatter() {
    let types = ["c", "a", "b"]
    let hashes = [types, types.sorted(), types.reversed()].map { ChangeToken.filterHash(types: $0, earliest: 1) }
    #expect(Set(hashes).count == 1)
  }

  @Test func differentFiltersDiffer() {
    let filters: [([String]?, Int64?)] = [
      (nil, nil), ([], nil), (["*"], nil), (["a"], nil), (["a", "b"], nil), (["ab"], nil), (["a", ""], nil),
      ([""], nil),
      (nil, 0), (nil, 1), (nil, -1), ([], 0), (["a"], 0), (["0"], nil), (["a"], 10), (["a1"], 0),
    ]
    #expect(Set(filters.map { ChangeToken.filterHash(types: $0.0, earliest: $0.1) }).count == filters.count)
  }
}
