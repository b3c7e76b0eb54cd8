import Foundation
import PeerProtocol
import Testing

@Suite struct PairingPayloadTests {
  static let hex = "b246edeb156708df83e25cd859d93f8c3adb138a7b887d11abd7b2abe02fdb65"
  static let now = Date(timeIntervalSince1970: 1_718_447_400)
  /// The characters of QR's alphanumeric mode (ISO/IEC 18004 table 5).
  static let alphanumeric = Set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ $%*+-./:")

  static func payload(host: String = "studio.local", port: UInt16 = 8443, expiry: Date? = nil) throws -> PairingPayload
  {
    try PairingPayload(
      host: host, port: port, fingerprint: #require(Fingerprint(hex: hex)), code: #require(PairingCode("042195")),
      expiry: expiry)
  }

  @Test(arguments: [
    "studio.local", "192.168.1.20", "fd00::12", "::1", "fe80::1234:5678:9abc:def0", "a", "my-nas-2.home.arpa",
  ])
  func uriRoundTrip(host: String) throws {
    let payload = try Self.payload(host: host)
    #expect(payload.uri.allSatisfy(Self.alphanumeric.contains))
    #expect(try PairingPayload.parse(payload.uri) == payload)
    #expect(try PairingPayload.parse(payload.uri.lowercased()) == payload)
  }

  @Test func uriSpelling() throws {
    let fingerprint = try #require(Fingerprint(hex: Self.hex))
    #expect(try Self.payload().uri == "HPEER:P1/STUDIO.LOCAL:8443/\(fingerprint.base32)/042195")
    #expect(try Self.payload(host: "FD00::12").uri == "HPEER:P1/*FD00::12*:8443/\(fingerprint.base32)/042195")
  }

  @Test func surroundingWhiteSpaceIsIgnored() throws {
    let payload = try Self.payload()
    #expect(try PairingPayload.parse(" \t\r\n\(payload.uri)\n\n") == payload)
    #expect(try PairingPayload.parse("\n \(payload.json)\r\n") == payload)
  }

  @Test func hostsAreLowerCasedWithoutFinalDot() throws {
    #expect(try Self.payload(host: "Studio.Local.").host == "studio.local")
  }

  @Test(
    arguments: [
      "", ".", "-a", "a-", "a..b", "a b", "a/b", "münchen", "fe80::1%eth0", "1.2.3", "1.2.3.256", "999", "a:b", ":",
      "[::1]",
      "a\"b", "a\\b", "a\u{0}b", "1.2.3.4\u{0}x", "fd00::12\u{0}\u{1b}[2J", "\u{212a}",
      String(repeating: "a", count: 64), String(repeating: "a.", count: 130),
    ])
  func refusesOtherHosts(host: String) {
    #expect(throws: PairingPayloadError.badField("host")) { try Self.payload(host: host) }
  }

  @Test func refusesPortZero() { #expect(throws: PairingPayloadError.badField("port")) { try Self.payload(port: 0) } }

  // MARK: URI

  @Test func hostileURIs() throws {
    let base32 = try #require(Fingerprint(hex: Self.hex)).base32
    let cases: [(String, PairingPayloadError)] = [
      ("HPEER:P2/A:1/\(base32)/042195", .unsupportedVersion("P2")),
      ("HPEER:P2/something/entirely/different/here", .unsupportedVersion("P2")),
      ("HPEER:P999", .unsupportedVersion("P999")),
      ("HPEER:", .notAPayload),
      ("HPEER:P", .notAPayload),
      ("HPEER:P1x", .notAPayload),
      ("HPEER:P1234/", .notAPayload),
      ("HPEER:\u{1b}[2J/", .notAPayload),
      ("HPEER:P1", .badField("fields")),
      ("HPEER:P1/A:1/\(base32)", .badField("fields")),
      ("HPEER:P1/A:1/\(base32)/042195/", .badField("fields")),
      ("HPEER:P1/A:1/\(base32)/042195/X", .badField("fields")),
      ("HPEER:P1/A/\(base32)/042195", .badField("port")),
      ("HPEER:P1/A:/\(base32)/042195", .badField("port")),
      ("HPEER:P1/A:0/\(base32)/042195", .badField("port")),
      ("HPEER:P1/A:+1/\(base32)/042195", .badField("port")),
      ("HPEER:P1/A:01/\(base32)/042195", .badField("port")),
      ("HPEER:P1/A:65536/\(base32)/042195", .badField("port")),
      ("HPEER:P1/:1/\(base32)/042195", .badField("host")),
      ("HPEER:P1/*A*:1/\(base32)/042195", .badField("host")),
      ("HPEER:P1/FD00::12:1/\(base32)/042195", .badField("host")),
      ("HPEER:P1/*FD00::12:1/\(base32)/042195", .badField("host")),
      ("HPEER:P1/*FD00::12%ETH0*:1/\(base32)/042195", .badField("host")),
      ("HPEER:P1/**:1/\(base32)/042195", .badField("host")),
      ("HPEER:P1/*:*:1/\(base32)/042195", .badField("host")),
      ("HPEER:P1/A:1//042195", .badField("fingerprint")),
      ("HPEER:P1/A:1/\(base32)A/042195", .badField("fingerprint")),
      ("HPEER:P1/A:1/\(base32.dropLast())/042195", .badField("fingerprint")),
      ("HPEER:P1/A:1/\(Self.hex)/042195", .badField("fingerprint")),
      ("HPEER:P1/A:1/\(base32)/", .badField("code")),
      ("HPEER:P1/A:1/\(base32)/04219", .badField("code")),
      ("HPEER:P1/A:1/\(base32)/042 195", .badField("code")),
      ("", .notAPayload), ("hello", .notAPayload), ("https://example.org/HPEER:P1", .notAPayload),
      ("\u{0}", .notAPayload),
      (String(repeating: "HPEER:P1/", count: 1000), .notAPayload),
    ]
    for (text, error) in cases {
      #expect(throws: error, "\(text.prefix(80))") { try PairingPayload.parse(text) }
    }
  }

  // MARK: JSON

  @Test func jsonIsHealthAppTransfers() throws {
    let payload = try Self.payload(host: "192.168.1.20", expiry: Date(timeIntervalSince1970: 1_718_447_700.5))
    #expect(
      payload.json
        == #"{"code":"042195","expiry":1718447700.5,"fingerprint":"\#(Self.hex)","host":"192.168.1.20","port":8443}"#)
    #expect(try PairingPayload.parse(payload.json, now: Self.now) == payload)
  }

  @Test func jsonWithoutExpiryAndWithExtraKeys() throws {
    let text =
      #"{"port":8443.0,"x":[{"y":null}],"host":"STUDIO.local","code":"042195","#
      + #""fingerprint":"\#(Self.hex.uppercased())"}"#
    #expect(try PairingPayload.parse(text) == Self.payload())
  }

  @Test func expiredJSON() throws {
    let expiry = Date(timeIntervalSince1970: 1_718_447_700)
    let json = try Self.payload(expiry: expiry).json
    #expect(try PairingPayload.parse(json, now: expiry).expiry == expiry)
    #expect(throws: PairingPayloadError.expired(expiry)) { try PairingPayload.parse(json, now: expiry + 1) }
  }

  @Test func hostileJSON() throws {
    func json(_ field: String, _ value: String) -> String {
      var fields = [
        "code": "\"042195\"", "expiry": "9e9", "fingerprint": "\"\(Self.hex)\"", "host": "\"a\"", "port": "1",
      ]
      fields[field] = value
      return "{" + fields.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
    }
    let cases: [(String, PairingPayloadError)] = [
      ("{", .notAPayload), ("{}", .notAPayload), ("{]}", .notAPayload), ("{\"code\"}", .notAPayload),
      (String(repeating: "{\"a\":", count: 800), .notAPayload),
      (String(repeating: "{", count: 4096), .notAPayload),
      ("{\"unrelated\":1}", .notAPayload),
      (json("code", "42195"), .badField("code")), (json("code", "null"), .badField("code")),
      (json("code", "\"042 195\""), .badField("code")),
      (json("port", "\"8443\""), .badField("port")), (json("port", "70000"), .badField("port")),
      (json("port", "0"), .badField("port")), (json("port", "-1"), .badField("port")),
      (json("port", "1.5"), .badField("port")), (json("port", "1e400"), .badField("port")),
      (json("port", "true"), .badField("port")), (json("port", "{}"), .badField("port")),
      (json("fingerprint", "\"\""), .badField("fingerprint")), (json("fingerprint", "1"), .badField("fingerprint")),
      (json("host", "\"\""), .badField("host")), (json("host", "\"\\u0000\""), .badField("host")),
      (json("host", "\"a/../b\""), .badField("host")), (json("host", "[]"), .badField("host")),
      (json("expiry", "null"), .badField("expiry")), (json("expiry", "\"soon\""), .badField("expiry")),
      (json("expiry", "1e300"), .badField("expiry")), (json("expiry", "-5"), .badField("expiry")),
    ]
    for (text, error) in cases {
      // A parser may also refuse the whole text for a number that no Double can hold.
      let found = #expect(throws: PairingPayloadError.self) { try PairingPayload.parse(text, now: Self.now) }
      #expect(found == error || (text.contains("e400") && found == .notAPayload), "\(text.prefix(120))")
    }
  }

  @Test func anotherAppsCodeIsRecognised() {
    let text = """
      {"version":"1","host":"192.168.1.42","port":53271,"code":"AbCdEf23","expiresAt":"2026-01-07T12:05:00Z",\
      "certificateFingerprint":"\(Self.hex)"}
      """
    #expect(throws: PairingPayloadError.codeOfAnotherApp) { try PairingPayload.parse(text) }
  }

  // MARK: Both

  /// Payloads with removed, duplicated or overwritten parts never crash the parser, and every accepted payload has a
  /// spelling that is accepted again.
  @Test func mutatedPayloadsNeverCrash() throws {
    var random = SplitMix(state: 42)
    let seeds = try [
      Self.payload().uri, Self.payload(host: "fd00::12").uri, Self.payload(expiry: Self.now + 60).json,
    ].map { Array($0.utf8) }
    for _ in 0..<3000 {
      var bytes = seeds[Int(random.next() % 3)]
      for _ in 0...random.next() % 3 {
        let index = Int(random.next() % UInt64(bytes.count))
        switch random.next() % 3 {
        case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.remove(at: index)
        default: bytes.insert(bytes[index], at: index)
        }
      }
      guard let payload = try? PairingPayload.parse(String(decoding: bytes, as: UTF8.self), now: Self.now) else {
        continue
      }
      #expect(try PairingPayload.parse(payload.json, now: Self.now) == payload)
      #expect(try PairingPayload.parse(payload.uri).code == payload.code)
    }
  }

  @Test func descriptionsHideTheCode() throws {
    let payload = try Self.payload()
    var dumped = ""
    dump(payload, to: &dumped)
    #expect(!"\(payload)".contains("042195"))
    #expect(!dumped.contains("042195"))
  }
}

struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }
}
