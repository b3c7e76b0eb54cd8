import Foundation
import HealthModel
import PeerProtocol
import Testing

@Suite struct ChangeLineTests {
  static let reference = SampleReference(
    type: SampleType("HKQuantityTypeIdentifierStepCount"), start: Timestamp(seconds: 1_718_447_400),
    uuid: UUID(
      uuid: (
        0x6B, 0x29, 0xFC, 0x40, 0xCA, 0x47, 0x10, 0x67, 0xB3, 0x1D, 0x00, 0xDD, 0x01, 0x06, 0x62, 0xDA
      )))

  static let sample = Sample(
    uuid: reference.uuid, type: reference.type, start: reference.start, end: Timestamp(seconds: 1_718_447_460),
    source: Source(name: "Ren\u{E9}\u{2019}s\u{A0}Watch 😴"),
    metadata: ["a\nb": "c\r\n\u{2028}\0/\\\"", "n": .number(.nan)],
    payload: .quantity(Quantity(12, "count")))

  static let lines: [ChangeLine] = [
    .added(sample), .deleted(Tombstone(sample: reference, deleted: Timestamp(microseconds: .max))),
    .added(
      Sample(
        uuid: reference.uuid, type: SampleType(""), start: Timestamp(microseconds: .min),
        end: Timestamp(microseconds: .max), source: Source(name: ""),
        payload: .unknown(kind: "of tomorrow", content: .array([.null, .integer(.min), .object(["😴": .bool(true)])])))),
    .token("AWsp_EDKRxBnsx0A3QEGYtoAAAAAAAABAsvynOSEIiMl", more: true), .token("", more: false),
    .error("The disk that holds the store is full.\n"), .error(""),
  ]

  static func encode(_ lines: [ChangeLine]) throws -> [UInt8] {
    let encoder = ChangeLineEncoder()
    var bytes: [UInt8] = []
    for line in lines { try encoder.encode(line, into: &bytes) }
    return bytes
  }

  /// Returns lines as JSON for comparisons, because NaN doesn't equal itself.
  static func text(_ lines: [ChangeLine]) throws -> [String] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return try lines.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
  }

  @Test(arguments: lines)
  func comesBackAsItWas(line: ChangeLine) throws {
    let read = try JSONDecoder().decode(ChangeLine.self, from: try JSONEncoder().encode(line))
    #expect(try Self.text([read]) == Self.text([line]))
  }

  @Test(arguments: lines)
  func isOneLine(line: ChangeLine) throws {
    let bytes = try Self.encode([line])
    #expect(bytes.firstIndex(of: UInt8(ascii: "\n")) == bytes.count - 1)
    #expect(!bytes.contains(UInt8(ascii: "\r")))
  }

  @Test func theWireIsAsDocumented() throws {
    let line = ChangeLine.deleted(Tombstone(sample: Self.reference, deleted: Timestamp(seconds: 0)))
    let object = try JSONSerialization.jsonObject(with: Data(Self.encode([line]))) as? [String: [String: Any]]
    let deleted = try #require(object?["deleted"])
    #expect(object?.count == 1)
    #expect(deleted["deleted"] as? String == "1970-01-01T00:00:00Z")
    #expect(
      deleted["sample"] as? [String: String] == [
        "type": "HKQuantityTypeIdentifierStepCount", "start": "2024-06-15T10:30:00Z",
        "uuid": "6B29FC40-CA47-1067-B31D-00DD010662DA",
      ])
    #expect(try Self.text([.token("t", more: true)]) == [#"{"more":true,"token":"t"}"#])
    #expect(try Self.text([.error("e")]) == [#"{"error":"e"}"#])
  }

  @Test func fieldsOfTomorrowAreNoHindrance() throws {
    let json = #"{"token":"t","more":false,"took":1.5,"hint":{"a":[]}}"#
    #expect(try JSONDecoder().decode(ChangeLine.self, from: Data(json.utf8)) == .token("t", more: false))
  }
}
