import Foundation
import HealthModel
import PeerProtocol
import Testing

@Suite struct ChangeLineDecoderTests {
  private func decode(
    _ chunks: [some Collection<UInt8>], limit: Int? = nil
  ) throws(ChangeFeedError) -> [ChangeLine] {
    var decoder = ChangeLineDecoder(limits: Self.limits(line: limit))
    var lines: [ChangeLine] = []
    for chunk in chunks { lines += try decoder.decode(Array(chunk)) }
    return lines
  }

  private static func limits(line: Int?) -> ClientLimits {
    var limits = ClientLimits()
    if let line { limits.line.bytes = line }
    return limits
  }

  @Test func anyDivisionIntoTwoGivesTheSameLines() throws {
    let bytes = try ChangeLineTests.encode(ChangeLineTests.lines)
    let expected = try ChangeLineTests.text(ChangeLineTests.lines)
    for split in 0...bytes.count {
      let lines = try decode([bytes[..<split], bytes[split...]])
      try #require(try ChangeLineTests.text(lines) == expected, "divided at \(split)")
    }
  }

  @Test(arguments: [1, 2, 3, 7, 64, 1000])
  func chunksOfAnySizeGiveTheSameLines(size: Int) throws {
    let bytes = try ChangeLineTests.encode(ChangeLineTests.lines)
    let chunks = stride(from: 0, to: bytes.count, by: size).map { bytes[$0..<min($0 + size, bytes.count)] }
    #expect(try ChangeLineTests.text(decode(chunks)) == ChangeLineTests.text(ChangeLineTests.lines))
  }

  @Test func aLineIsWaitedForUntilItsEnd() throws {
    var decoder = ChangeLineDecoder()
    #expect(try decoder.decode(Array(#"{"error":"a"}"#.utf8)) == [])
    #expect(try decoder.decode([]) == [])
    #expect(try decoder.decode(Array("\n".utf8)) == [.error("a")])
  }

  @Test func emptyLinesAreSkippedButCounted() throws {
    #expect(try decode([Array("\n\n{\"error\":\"a\"}\n\n\n".utf8)]) == [.error("a")])
    #expect(throws: ChangeFeedError.malformed(line: 4)) { try decode([Array("\n\n\nx\n".utf8)]) }
  }

  @Test func spaceAroundALineIsNoHindrance() throws {
    #expect(try decode([Array(" {\"error\" : \"a\"}\t\r\n".utf8)]) == [.error("a")])
  }

  // MARK: Limits

  @Test func aLineMayBeAsLongAsTheLimit() throws {
    let line = Array(#"{"error":"0123456789"}"#.utf8)
    let stream = line + [10] + line + [10]
    for chunks in [[stream[...]], stream.indices.map { stream[$0...$0] }] {
      #expect(try decode(chunks, limit: line.count).count == 2)
    }
  }

  @Test func aLongerLineIsRefused() throws {
    let short = Array("{\"error\":\"\"}\n".utf8)
    let line = Array(#"{"error":"0123456789"}"#.utf8)
    let stream = short + line + [10]
    for chunks in [[stream[...]], stream.indices.map { stream[$0...$0] }] {
      #expect(throws: ChangeFeedError.lineTooLong(line: 2)) { try decode(chunks, limit: line.count - 1) }
    }
  }

  @Test func aLineWithoutEndIsRefusedAsSoonAsItIsTooLong() throws {
    var decoder = ChangeLineDecoder(limits: Self.limits(line: 1000))
    for _ in 0..<100 { _ = try decoder.decode([UInt8](repeating: 0x20, count: 10)) }
    #expect(throws: ChangeFeedError.lineTooLong(line: 1)) { try decoder.decode([0x20]) }
  }

  @Test func aLineOfMoreThanAnySampleHoldsIsRefused() throws {
    var limits = ClientLimits()
    limits.line.weight = 1_000
    func decode(_ count: Int) throws -> Int {
      let zeros = Array(repeating: "0", count: count).joined(separator: ",")
      var decoder = ChangeLineDecoder(limits: limits)
      return try decoder.decode(Array((Self.added(kind: "of tomorrow", payload: "[\(zeros)]") + "\n").utf8)).count
    }
    #expect(try decode(400) == 1)
    #expect(throws: ChangeFeedError.lineTooLong(line: 1)) { try decode(500) }
  }

  // MARK: Hostile input

  private static let sample =
    #"{"uuid":"6B29FC40-CA47-1067-B31D-00DD010662DA","type":"t","start":"2024-01-01","end":"2024-01-01","#
    + #""source":{"name":"s"},"kind":"KIND","payload":PAYLOAD}"#

  private static func added(kind: String, payload: String) -> String {
    #"{"added":"#
      + sample.replacingOccurrences(of: "KIND", with: kind).replacingOccurrences(of: "PAYLOAD", with: payload) + "}"
  }

  /// Expects that a line is malformed. It is the third line, after a valid and an empty line.
  private func expectMalformed(_ line: some Sequence<UInt8>) {
    let bytes = Array("{\"error\":\"\"}\n\n".utf8) + Array(line) + [10]
    #expect(throws: ChangeFeedError.malformed(line: 3)) { try decode([bytes]) }
    #expect(throws: ChangeFeedError.malformed(line: 3)) {
      try decode([bytes[..<(bytes.count - 2)], bytes[(bytes.count - 2)...]])
    }
  }

  @Test(arguments: [
    "x", "{", "}", "{}", "[]", "null", "true", "\"\"", "0", "{\"error\":", "{\"error\":\"", "{\"error\":\"a\"",
    "{'error':'a'}",
    "{\"error\":null}", "{\"error\":1}", "{\"token\":\"t\"}", "{\"token\":1,\"more\":true}",
    "{\"token\":\"t\",\"more\":1}",
    "{\"token\":\"t\",\"more\":\"true\"}", "{\"added\":{}}", "{\"added\":[]}", "{\"added\":null}", "{\"deleted\":{}}",
    "{\"deleted\":{\"sample\":{},\"deleted\":\"2024-01-01\"}}", "{\"other\":1}", "{\"error\":\"a\"}{\"error\":\"b\"}",
    "{\"error\":\"a\"} x", "{\"error\":\"\\ud800\"}", "{\"error\":\"\\x\"}", "<!DOCTYPE html>",
    "HTTP/1.1 400 Bad Request",
    "\r", "{\"error\":\"a\tb\"}",
  ])
  func whatIsNoChangeIsRefused(line: String) {
    expectMalformed(line.utf8)
  }

  @Test(arguments: [
    (#"{"token":"t","more":1e999}"#),
    (added(kind: "quantity", payload: #"{"value":1e999,"unit":""}"#)),
    (added(kind: "quantity", payload: #"{"value":\#(String(repeating: "9", count: 400)),"unit":""}"#)),
    (added(kind: "quantity", payload: #"{"value":"1","unit":""}"#)),
    (added(kind: "category", payload: #"{"value":9223372036854775808}"#)),
    (added(kind: "category", payload: #"{"value":1.5}"#)),
    (added(kind: "workout", payload: #"{"activityType":-1}"#)),
    (added(kind: "of tomorrow", payload: "1e999")),
    (added(kind: "quantity", payload: "{}").replacingOccurrences(of: "2024-01-01", with: "999999-01-01")),
    (added(kind: "of tomorrow", payload: "0").replacingOccurrences(of: "\"2024-01-01\"", with: "1e400")),
  ])
  func numbersBeyondMeasureAreRefused(line: String) {
    expectMalformed(line.utf8)
  }

  @Test func hugeNumbersOfTomorrowAreTakenAsFarAsTheyGo() throws {
    let line = Self.added(kind: "of tomorrow", payload: "[9223372036854775808,-1e308,1e-400,0]") + "\n"
    guard case .added(let sample, _, _) = try decode([Array(line.utf8)]).first else {
      Issue.record("no sample")
      return
    }
    #expect(
      sample.payload
        == .unknown(
          kind: "of tomorrow",
          content: .array([.number(9_223_372_036_854_775_808), .number(-1e308), .integer(0), .integer(0)])))
  }

  @Test(arguments: [1000, 200_000])
  func deepNestingIsRefused(depth: Int) {
    for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
      let (opening, closing) = (String(repeating: open, count: depth), String(repeating: close, count: depth))
      expectMalformed(opening.utf8)
      expectMalformed((opening + "0" + closing).utf8)
      expectMalformed(Self.added(kind: "of tomorrow", payload: opening + "0" + closing).utf8)
    }
  }

  @Test func nestingThatPeopleMayNeedIsTaken() throws {
    let payload = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
    let line = Self.added(kind: "of tomorrow", payload: payload) + "\n"
    #expect(try decode([Array(line.utf8)]).count == 1)
  }

  @Test(
    arguments: [
      [0xFF], [0xC0, 0x80], [0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82], [0xF0, 0x9F, 0x98],
    ] as [[UInt8]])
  func whatIsNotUTF8IsRefused(bytes: [UInt8]) {
    expectMalformed(Array(#"{"error":""#.utf8) + bytes + Array(#""}"#.utf8))
    expectMalformed(Array(#"{"error":"","#.utf8) + [0x22] + bytes + Array(#"":1}"#.utf8))
    expectMalformed(bytes)
  }

  @Test(
    arguments: [
      [0], [0, 0, 0, 0], [0x22, 0], [0x7B, 0, 0x7D, 0],
      Array("{\"error\":\"a\0b\"}".utf8), Array("{\"error\":\"a\"}\0".utf8), Array("\0{\"error\":\"a\"}".utf8),
    ] as [[UInt8]])
  func NULBytesAreRefused(bytes: [UInt8]) {
    expectMalformed(bytes)
  }

  /// A valid stream with changed, removed or duplicated bytes gives lines or an error, but never crashes.
  @Test(arguments: [1, 2, 3] as [UInt64])
  func damagedStreamsNeverCrash(seed: UInt64) throws {
    let stream = try ChangeLineTests.encode(ChangeLineTests.lines)
    var state = seed
    func random(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    for _ in 0..<400 {
      var bytes = stream
      for _ in 0...random(4) {
        let index = random(bytes.count)
        switch random(4) {
        case 0: bytes[index] = UInt8(random(256))
        case 1: bytes.remove(at: index)
        case 2: bytes.insert(contentsOf: bytes[index..<min(index + random(50), bytes.count)], at: index)
        default: bytes.insert(Array("\"\\{}[]:,-0e\0\n".utf8)[random(13)], at: index)
        }
      }
      do {
        let lines = try decode([bytes[..<(bytes.count / 2)], bytes[(bytes.count / 2)...]])
        #expect(lines.count <= bytes.count { $0 == 10 })
      } catch {
        guard case .malformed(let line) = error else {
          Issue.record("\(error)")
          return
        }
        #expect((1...bytes.count { $0 == 10 }).contains(line))
      }
    }
  }

  @Test(arguments: [
    ChangeFeedError.malformed(line: 7), .lineTooLong(line: 7), .server("The disk is full."), .cutOff,
  ])
  func anErrorIsASentence(error: ChangeFeedError) {
    #expect("\(error)".hasSuffix("."))
    if case .server = error { #expect("\(error)".contains("The disk is full.")) }
    if case .malformed = error { #expect("\(error)".contains("line 7")) }
    if case .lineTooLong = error { #expect("\(error)".contains("line 7")) }
  }
}

extension ChangeLineDecoder {
  fileprivate mutating func decode(_ bytes: [UInt8]) throws(ChangeFeedError) -> [ChangeLine] {
    // `withUnsafeBytes` does not carry the type of the error.
    let result = bytes.withUnsafeBytes { buffer in Result { () throws(ChangeFeedError) in try decode(buffer) } }
    return try result.get()
  }
}
