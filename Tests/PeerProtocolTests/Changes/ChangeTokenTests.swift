import Cryptography
import Foundation
import HealthModel
import Testing

@testable import PeerProtocol

@Suite struct ChangeTokenTests {
  private static let key = Data(0..<32)
  private let seal = ChangeTokenSeal(key: key)
  private let token = ChangeToken(change: 258, epoch: 0x0102_0304_0506_0708, filter: 0xCBF2_9CE4_8422_2325)

  @Test(arguments: [
    ChangeToken(change: 0, epoch: 0, filter: 0),
    ChangeToken(change: 258, epoch: .max, filter: 0xCBF2_9CE4_8422_2325),
    ChangeToken(change: .max, epoch: 1, filter: .max),
  ])
  func comesBackAsItWasSealed(token: ChangeToken) throws {
    #expect(try seal.token(in: seal.text(of: token)) == token)
  }

  /// Clients store tokens, so the format must never change. The token was sealed by another program (Python's
  /// `cryptography`).
  @Test func vector() throws {
    let text = "AgABAgMEBQYHCAkKC0cC1hvF5cMZjEOUj7Tvf2VIJBvQdFl8WQ4nDqOvxBdb90u_SWm92TA"
    #expect(try seal.token(in: text) == token)
  }

  @Test func equalPositionsLookDifferentAndAllAreEquallyLong() throws {
    var texts: Set<String> = []
    for change in [258, 258, 0, .max] as [Int64] {
      texts.insert(seal.text(of: ChangeToken(change: change, epoch: token.epoch, filter: token.filter)))
    }
    #expect(texts.count == 4)
    #expect(Set(texts.map(\.utf8.count)) == [71])
    let alphabet = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    #expect(texts.allSatisfy { $0.allSatisfy(alphabet.contains) })
  }

  /// Every other text of the same length is rejected: tokens can't be forged and have only one spelling.
  @Test func anyOtherCharacterIsRefused() throws {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
    let text = Array(seal.text(of: token))
    for index in text.indices {
      for character in alphabet where character != text[index] {
        var other = text
        other[index] = character
        #expect(throws: ChangeTokenError.self) { try seal.token(in: String(other)) }
      }
    }
  }

  @Test func anotherStoresTokenIsForeign() throws {
    let other = ChangeTokenSeal(key: Data(repeating: 7, count: 32))
    #expect(throws: ChangeTokenError.foreign) { try seal.token(in: other.text(of: token)) }
  }

  /// These are tokens from servers before version 2.
  @Test(arguments: [
    "AWsp_EDKRxBnsx0A3QEGYtoAAAAAAAAAAAAAAAAAAAAA", "AWsp_EDKRxBnsx0A3QEGYtoAAAAAAAABAsvynOSEIiMl",
    "AWsp_EDKRxBnsx0A3QEGYtp_____________________",
  ])
  func aTokenInTheClearIsForeign(text: String) {
    #expect(throws: ChangeTokenError.foreign) { try seal.token(in: text) }
  }

  private static let valid = "AWsp_EDKRxBnsx0A3QEGYtoAAAAAAAABAsvynOSEIiMl"

  private static let hostile: [String] = [
    "", "A", "null", "0", "-1", "../../etc/passwd", "%00", "\(valid)A", "\(valid)=", "\(valid)AAAA", "\(valid)\n",
    "\n\(valid.dropFirst())", " \(valid.dropFirst())", String(valid.dropLast(4)), "\(valid.dropLast(4))IiM=",
    "/\(valid.dropFirst())", "+\(valid.dropFirst())", String(repeating: "=", count: 44),
    String(repeating: "\0", count: 71), String(repeating: "-\u{301}", count: 14) + "xx",
    String(repeating: "A", count: 71), String(repeating: "A", count: 100_000), String(repeating: "😴", count: 11),
  ]

  @Test(arguments: hostile)
  func refusesWhatIsNoToken(text: String) {
    #expect(throws: ChangeTokenError.malformed) { try seal.token(in: text) }
  }

  @Test(arguments: UInt8.min...UInt8.max)
  func anotherVersionOrLengthIsMalformed(version: UInt8) {
    for count in [0, 1, 31, 32, 33, 51, 52, 53, 70] where (version, count) != (1, 32) && (version, count) != (2, 52) {
      #expect(throws: ChangeTokenError.malformed) { try seal.token(in: Self.text([version], count)) }
    }
  }

  @Test func aNegativeNumberIsNoPosition() throws {
    let nonce = [UInt8](repeating: 1, count: 12)
    let sealed = AuthenticatedCipher.aes256GCM.seal(
      [UInt8](repeating: 0xFF, count: 24), using: SymmetricKey(data: Self.key), nonce: nonce, authenticating: [2])
    #expect(throws: ChangeTokenError.foreign) { try seal.token(in: Self.text([2] + nonce + sealed, 0)) }
  }

  private static func text(_ bytes: [UInt8], _ more: Int) -> String {
    Data(bytes + [UInt8](repeating: 0, count: more)).base64EncodedString().replacing("+", with: "-")
      .replacing("/", with: "_").replacing("=", with: "")
  }
}

@Suite struct FilterHashTests {
  /// The expected values of FNV-1a were computed by another program. The hash is part of tokens that clients store.
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
    #expect(ChangeToken.filterHash(Self.filter(types, earliest)) == hash)
  }

  private static func filter(_ types: [String]?, _ earliest: Int64?, _ end: Int64? = nil) -> SampleFilter {
    SampleFilter(
      types: types.map { Set($0.map { SampleType($0) }) }, earliest: earliest.map { Timestamp(microseconds: $0) },
      end: end.map { Timestamp(microseconds: $0) })
  }

  @Test func differentFiltersDiffer() {
    let filters: [([String]?, Int64?)] = [
      (nil, nil), ([], nil), (["*"], nil), (["a"], nil), (["a", "b"], nil), (["ab"], nil), (["a", ""], nil),
      ([""], nil),
      (nil, 0), (nil, 1), (nil, -1), ([], 0), (["a"], 0), (["0"], nil), (["a"], 10), (["a1"], 0),
    ]
    // With an end they are others again, and an end is no beginning.
    var all = [nil, 0, 1].flatMap { end in filters.map { Self.filter($0.0, $0.1, end) } }
    // And so they are with sources.
    for sources in [[], ["a"], ["a", ""], ["0"]] as [Set<String>] {
      all += all.filter { $0.sources == nil }.map { filter in
        var filter = filter
        filter.sources = sources
        return filter
      }
    }
    #expect(Set(all.map { ChangeToken.filterHash($0) }).count == all.count)
  }

  @Test func aWiderScopeIsTold() {
    let asked = Self.filter(["a"], nil)
    #expect(ChangeToken.filterHash(asked, scope: asked) == ChangeToken.filterHash(asked))
    #expect(ChangeToken.filterHash(asked, scope: .everything) == ChangeToken.filterHash(asked))
    #expect(ChangeToken.filterHash(asked, scope: Self.filter(["a", "b"], nil)) != ChangeToken.filterHash(asked))
  }
}
