import Foundation
import PeerProtocol
import Testing

@Suite struct PairMessageTests {
  static let id = "303132333435363738393a3b3c3d3e3f"
  static let point = "04" + String(repeating: "ab", count: 64)
  static let mac = String(repeating: "cd", count: 32)

  private func decode<Message: Decodable>(_ type: Message.Type, _ json: String) throws -> Message {
    try JSONDecoder().decode(type, from: Data(json.utf8))
  }

  private func encode(_ message: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(message), as: UTF8.self)
  }

  // MARK: Spelling

  @Test func helloSpelling() throws {
    let open = try PairHello(
      versions: ["hpeer-pair/1"], suite: PairingProtocol.suite, serverID: #require(PeerID(hex: Self.id)),
      salt: [UInt8](repeating: 1, count: 16))
    let json = try encode(open)
    #expect(
      json.replacingOccurrences(of: "\\/", with: "/")
        == #"{"salt":"01010101010101010101010101010101","serverID":"\#(Self.id)","suite":"P256-SHA256-HKDF-HMAC","#
        + #""versions":["hpeer-pair/1"],"windowOpen":true}"#
    )
    #expect(try decode(PairHello.self, json) == open)
  }

  @Test func closedHelloHasNoSalt() throws {
    let closed = try PairHello(versions: ["v"], suite: "s", serverID: #require(PeerID(hex: Self.id)), salt: nil)
    let json = try encode(closed)
    #expect(!json.contains("salt"))
    #expect(try decode(PairHello.self, json) == closed)
    #expect(!closed.windowOpen)
  }

  @Test func helloTellsWhyNoCodeCanWork() throws {
    let id = try #require(PeerID(hex: Self.id))
    let salt = [UInt8](repeating: 1, count: 16)
    func refusal(salt: [UInt8]?, locked: Bool) throws -> PairRejection? {
      try PairHello(versions: ["v"], suite: "s", serverID: id, salt: salt, windowLocked: locked).refusal
    }
    #expect(try refusal(salt: nil, locked: false) == .windowClosed)
    #expect(try refusal(salt: nil, locked: true) == .windowLocked)
    #expect(try refusal(salt: salt, locked: false) == nil)
    #expect(try refusal(salt: salt, locked: true) == nil)
  }

  @Test func openHelloNeedsASaltOf16Bytes() throws {
    #expect(throws: (any Error).self) {
      try decode(PairHello.self, #"{"serverID":"\#(Self.id)","suite":"s","versions":["v"],"windowOpen":true}"#)
    }
    #expect(throws: PairMessageError.badField("salt")) {
      try decode(
        PairHello.self, #"{"salt":"00","serverID":"\#(Self.id)","suite":"s","versions":["v"],"windowOpen":true}"#)
    }
  }

  @Test func startSpelling() throws {
    let json = #"{"clientID":"\#(Self.id)","name":"Anna’s laptop","pA":"\#(Self.point)","versions":["a","b"]}"#
    let request = try decode(PairStartRequest.self, json)
    #expect(request.clientID.hex == Self.id)
    #expect(request.name == "Anna’s laptop")
    #expect(request.versions == ["a", "b"])
    #expect(request.pA.count == 65)
    #expect(try encode(request) == json)
  }

  @Test func startResponseSpelling() throws {
    let json = #"{"pB":"\#(Self.point)","session":"\#(Self.id)","ttl":30}"#
    #expect(try encode(decode(PairStartResponse.self, json)) == json)
  }

  @Test func finishSpelling() throws {
    let request = #"{"cA":"\#(Self.mac)","session":"\#(Self.id)"}"#
    #expect(try encode(decode(PairFinishRequest.self, request)) == request)
    let response =
      #"{"cB":"\#(Self.mac)","expiresAt":1767787500,"receipt":"\#(Self.mac)","tokenID":"0123456789abcdef"}"#
    #expect(try encode(decode(PairFinishResponse.self, response)) == response)
  }

  // MARK: Limits

  @Test func nameLimits() throws {
    func start(_ name: String) throws -> PairStartRequest {
      try PairStartRequest(
        clientID: #require(PeerID(hex: Self.id)), name: name, versions: ["v"], pA: [UInt8](repeating: 4, count: 65))
    }
    #expect(throws: Never.self) { try start(String(repeating: "é", count: 32)) }
    for name in ["", String(repeating: "é", count: 33), String(repeating: "a", count: 65_536), "a\u{0}b"] {
      #expect(throws: PairMessageError.badField("name")) { try start(name) }
    }
  }

  @Test func namesOf64KiBAreRefused() {
    let name = String(repeating: "a", count: 65_536)
    #expect(throws: PairMessageError.badField("name")) {
      try decode(PairStartRequest.self, #"{"clientID":"\#(Self.id)","name":"\#(name)","pA":"00","versions":["v"]}"#)
    }
  }

  @Test func versionLimits() throws {
    func start(_ versions: [String]) throws -> PairStartRequest {
      try PairStartRequest(
        clientID: #require(PeerID(hex: Self.id)), name: "n", versions: versions, pA: [UInt8](repeating: 4, count: 65))
    }
    #expect(throws: Never.self) { try start(Array(repeating: String(repeating: "v", count: 32), count: 8)) }
    for versions in [
      [], [""], ["a,b"], ["a b"], ["é"], [String(repeating: "v", count: 33)], Array(repeating: "v", count: 9),
    ] {
      #expect(throws: PairMessageError.badField("versions"), "\(versions)") { try start(versions) }
    }
  }

  /// Decoding must accept a share of the wrong length, because the server answers it like a wrong code.
  @Test func sharesOfWrongLengthDecodeButCannotBeMade() throws {
    let request = try decode(
      PairStartRequest.self, #"{"clientID":"\#(Self.id)","name":"n","pA":"00","versions":["v"]}"#)
    #expect(request.pA == [0])
    #expect(throws: PairMessageError.badField("pA")) {
      try PairStartRequest(clientID: request.clientID, name: "n", versions: ["v"], pA: [0])
    }
    #expect(try decode(PairFinishRequest.self, #"{"cA":"","session":"\#(Self.id)"}"#).cA == [])
    #expect(throws: PairMessageError.badField("cA")) { try PairFinishRequest(session: request.clientID.bytes, cA: []) }
  }

  @Test(
    arguments: [
      #"{"cA":"zz","session":"303132333435363738393a3b3c3d3e3f"}"#,
      #"{"cA":"0","session":"303132333435363738393a3b3c3d3e3f"}"#,
      #"{"cA":"00","session":"00"}"#, #"{"cA":1,"session":"303132333435363738393a3b3c3d3e3f"}"#, #"{"cA":"00"}"#, "[]",
      "{", "",
      #"{"cA":"\#(String(repeating: "0", count: 100_000))","session":"303132333435363738393a3b3c3d3e3f"}"#,
    ])
  func malformedFinishRequests(json: String) {
    #expect(throws: (any Error).self) { try decode(PairFinishRequest.self, json) }
  }

  @Test func invalidUTF8IsRefused() {
    var bytes = Array(#"{"clientID":"\#(Self.id)","name":"n?","pA":"00","versions":["v"]}"#.utf8)
    bytes[bytes.lastIndex(of: UInt8(ascii: "?")) ?? 0] = 0xff
    #expect(throws: (any Error).self) { try JSONDecoder().decode(PairStartRequest.self, from: Data(bytes)) }
  }

  @Test(
    arguments: [
      ("pB", "00", 30), ("pB", String(repeating: "ab", count: 66), 30), ("ttl", point, 0), ("ttl", point, 3601),
    ])
  func badStartResponses(field: String, pB: String, ttl: Int) {
    #expect(throws: PairMessageError.badField(field)) {
      try decode(PairStartResponse.self, #"{"pB":"\#(pB)","session":"\#(Self.id)","ttl":\#(ttl)}"#)
    }
  }

  @Test(
    arguments: [
      ("cB", "00", "1", "0123456789abcdef", mac), ("receipt", mac, "1", "0123456789abcdef", "00"),
      ("tokenID", mac, "1", "0123456789abcdeg", mac), ("tokenID", mac, "1", "01", mac),
      ("expiresAt", mac, "-1", "0123456789abcdef", mac),
      ("expiresAt", mac, "9223372036854775807", "0123456789abcdef", mac),
      ("expiresAt", mac, "-9223372036854775808", "0123456789abcdef", mac),
      ("expiresAt", mac, "7258118400", "0123456789abcdef", mac),
    ])
  func badFinishResponses(field: String, cB: String, expiry: String, tokenID: String, receipt: String) {
    #expect(throws: PairMessageError.badField(field)) {
      try decode(
        PairFinishResponse.self,
        #"{"cB":"\#(cB)","expiresAt":\#(expiry),"receipt":"\#(receipt)","tokenID":"\#(tokenID)"}"#)
    }
  }

  // MARK: Names

  @Test(
    arguments: [
      ("laptop", "laptop"), ("  laptop \n", "laptop"), ("", "unnamed"), (" \t", "unnamed"),
      ("a\u{0}\u{1b}[2Jb", "a[2Jb"),
      (String(repeating: "a", count: 65), String(repeating: "a", count: 64)),
      (String(repeating: "a", count: 63) + "é", String(repeating: "a", count: 63)),
      (String(repeating: "👩‍👩‍👧", count: 9), String(repeating: "👩‍👩‍👧", count: 3)),
    ])
  func trimsNames(name: String, trimmed: String) { #expect(PairingProtocol.trimmedName(name) == trimmed) }
}

@Suite struct PairRejectionTests {
  static let all: [PairRejection] = [
    .wrongCode(attemptsLeft: 3), .windowClosed, .windowLocked, .sessionExpired, .sessionConflict, .tooManySessions,
    .unsupportedVersion, .malformed, .temporary,
  ]

  @Test(arguments: all)
  func bodyRoundTrip(rejection: PairRejection) throws {
    let json = try JSONEncoder().encode(PairErrorBody(rejection))
    #expect(try JSONDecoder().decode(PairErrorBody.self, from: json).rejection == rejection)
  }

  @Test func codesAreStableAndDistinct() {
    #expect(
      Self.all.map(\.code) == [
        "wrong_code", "window_closed", "window_locked", "session_expired", "session_conflict", "too_many_sessions",
        "unsupported_version", "malformed", "temporary",
      ])
    #expect(Self.all.map(\.httpStatus) == [403, 403, 423, 410, 410, 429, 400, 400, 503])
  }

  @Test func bodySpelling() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let wrong = try encoder.encode(PairErrorBody(.wrongCode(attemptsLeft: 4)))
    #expect(String(decoding: wrong, as: UTF8.self) == #"{"attemptsLeft":4,"error":"wrong_code","success":false}"#)
    let closed = try encoder.encode(PairErrorBody(.windowClosed))
    #expect(String(decoding: closed, as: UTF8.self) == #"{"error":"window_closed","success":false}"#)
  }

  @Test(
    "a count beyond measure is no refusal",
    arguments: ["-1", "-9223372036854775808", "9223372036854775807", "281474976710656", "1e300", "1e999", "0.5"])
  func counts(attemptsLeft: String) {
    let json = #"{"success":false,"error":"wrong_code","attemptsLeft":\#(attemptsLeft)}"#
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(PairErrorBody.self, from: Data(json.utf8)) }
  }

  @Test func otherErrorsAreNotRejections() throws {
    let body = try JSONDecoder().decode(PairErrorBody.self, from: Data(#"{"success":false,"error":"Not Found"}"#.utf8))
    #expect(body.rejection == nil)
  }
}
