import Foundation
import PeerProtocol
import Testing

@Suite struct EnvelopeTests {
  private func text(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  @Test func successIsWrapped() throws {
    #expect(try text(Envelope(["a": 1])) == #"{"data":{"a":1},"success":true}"#)
    let read = try JSONDecoder().decode(
      Envelope<[String: Int]>.self, from: Data(#"{"success":true,"data":{"a":1}}"#.utf8))
    #expect(read.success && read.data == ["a": 1])
  }

  @Test func failureHasAMessage() throws {
    #expect(try text(FailureEnvelope("no")) == #"{"error":"no","success":false}"#)
  }

  @Test func statusIsAsDocumented() throws {
    let status = StatusData(version: "1.2", deviceName: "studio 😴", availableTypes: 3, id: "00ff", time: 12.5)
    #expect(
      try text(status)
        == #"{"availableTypes":3,"deviceName":"studio 😴","id":"00ff","protocol":"hpeer/1","#
        + #""status":"running","time":12.5,"version":"1.2"}"#
    )
    #expect(try JSONDecoder().decode(StatusData.self, from: JSONEncoder().encode(status)) == status)
  }

  @Test func aServerOfAnotherKindHasFewerFields() throws {
    let json = #"{"status":"running","version":"1.0","deviceName":"iPhone","availableTypes":180,"uptime":4}"#
    let status = try JSONDecoder().decode(StatusData.self, from: Data(json.utf8))
    #expect(status.protocol == nil && status.id == nil && status.time == nil)
    #expect(status.availableTypes.rawValue == 180)
  }

  @Test(
    "a clock or a count that nothing has is no answer",
    arguments: [
      (180, "1e19"), (180, "-1e300"), (180, "7258118400"), (-1, "0"), (1 << 48, "0"), (Int.max, "0"), (Int.min, "0"),
    ])
  func extremes(_ types: Int, _ time: String) {
    let json =
      #"{"status":"running","version":"1","deviceName":"a","availableTypes":\#(types),"time":\#(time)}"#
    #expect(throws: DecodingError.self) { try JSONDecoder().decode(StatusData.self, from: Data(json.utf8)) }
  }

  @Test func countsInHeadersAreDigits() {
    #expect(WireCount("0")?.rawValue == 0)
    #expect(WireCount("281474976710655")?.rawValue == 1 << 48 - 1)
    for text in ["281474976710656", "-1", "+1", " 1", "1 ", "1e3", "", "9223372036854775808", "٣"] {
      #expect(WireCount(text) == nil, "\(text)")
    }
  }

  @Test func pathsAreAsDocumented() {
    #expect(
      [
        Route.status, Route.openAPI, Route.pairHello, Route.pairStart, Route.pairFinish, Route.plainPair, Route.types,
        Route.data, Route.changes, Route.digest, Route.person, Route.pairing,
      ] == [
        "/status", "/openapi.yaml", "/pair/v1/hello", "/pair/v1/start", "/pair/v1/finish", "/api/v1/pair",
        "/health/types", "/health/data", "/api/v2/changes", "/api/v2/digest", "/api/v2/person", "/api/v2/pairing",
      ])
  }
}
