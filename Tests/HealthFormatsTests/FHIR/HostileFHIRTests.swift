import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

/// Tests of resources from other programs, and of hpeer's own with errors: only the affected resource is skipped, and
/// it is counted.
@Suite struct HostileFHIRTests {
  private static let own: String = {
    var maker = SampleMaker(seed: 9)
    var text = SampleText()
    // A plain sample can be written.
    _ = try? text.write(fhir: [maker.steps(at: 0)], .lines, subject: .reference("Patient/1"))
    return String(decoding: text.bytes, as: UTF8.self)
  }()

  @Test(arguments: [
    (#"{"resourceType":"Observation","status":"final","code":{"text":"x"}}"#, "Observation resources of another"),
    (#"{"resourceType":"Patient","id":"1"}"#, "Patient resources, which"), (#"{"resourceType":"a\u0000b"}"#, "unknown"),
    (#"{"id":1}"#, "no resource"), (" 17 ", "no resource"), (#"{"resourceType":7}"#, "no resource"),
    (#"{"resourceType":"Observation","extension":[{"url":"urn:hpeer:fhir:sample","valueString":"["}]}"#, "extension"),
    (#"{"resourceType":"Observation","extension":[{"url":"urn:hpeer:fhir:sample","valueString":"[]"}]}"#, "extension"),
    (
      #"{"resourceType":"DocumentReference","extension":[{"url":"urn:hpeer:fhir:sample","valueString":"{}"}]}"#,
      "extension"
    ),
  ])
  func whatIsNotReadIsCounted(text: String, reason: String) throws {
    for separator in ["\n", "\r\n\r\n", ""] {
      let reading = try SampleReading([Self.own, text, Self.own].joined(separator: separator), .fhirResources)
      #expect(reading.report.isComplete)
      #expect(reading.samples.count == 2)
      #expect(reading.report.skipped.count == 1)
      #expect(reading.report.skipped.first?.key.contains(reason) == true, "\(reading.report.skipped)")
      #expect(reading.report.skipped.first?.value.count == 1)
    }
  }

  @Test(arguments: [
    (#""effectivePeriod":{"start":"20"#, #""effectivePeriod":{"start":"x"#, "effective time"),
    (#""effectivePeriod""#, #""effectiveInstant""#, "effective time"),
    ("urn:ietf:rfc:3986\",\"value\":\"urn:uuid:", "urn:ietf:rfc:3986\",\"value\":\"urn:uuid:x", ""),
    (#""valueQuantity":{"value":"#, #""valueQuantity":{"number":"#, "value"),
    (#""valueQuantity""#, #""valueRange""#, "value"), (#""contained""#, #""containing""#, "device"),
    (#"http://developer.apple.com"#, #"http://example.org"#, "code"),
    (#""valueString":"{}""#, #""valueString":"{\"metadata\":7}""#, "metadata"),
    (#""valueString":"{}""#, #""valueString":"{\"metadata\":{\"a\":[]}}""#, "metadata"),
    (#""valueString":"{}""#, #""valueString":"{\"kind\":\"workout\"}""#, "payload"),
    (#""valueString":"{}""#, #""valueString":"{\"kind\":\"quantity\",\"payload\":{}}""#, "payload"),
    (#""valueString":"{}""#, #""valueString":"{\"source\":{}}""#, "source"),
    (#""valueString":"{}""#, #""valueString":"{\"device\":3}""#, "device"),
    (#""valueString":"{}""#, #""valueString":"{\"created\":\"never\"}""#, "issued"),
    (#""valueString":"{}""#, #""valueString":"{\"end\":4}""#, "effective time"),
    (
      #""status":"final""#, #""component":[{"extension":[{"url":"urn:hpeer:fhir:sample","valueString":"{}"}]}]"#,
      "component"
    ),
  ])
  func whatIsWrongWithOneLeavesOutThatOne(right: String, wrong: String, part: String) throws {
    #expect(Self.own.contains(right), "\(Self.own)")
    let reading = try SampleReading(Self.own.replacing(right, with: wrong) + Self.own, .fhirResources)
    #expect(reading.report.isComplete)
    // A resource whose identifier is gone still has its id.
    #expect(reading.samples.count == (part.isEmpty ? 2 : 1))
    #expect(reading.report.skipped.keys.allSatisfy { $0.contains(part) }, "\(reading.report.skipped)")
  }

  @Test func theIdentifierCountsWhereAServerHasGivenAnotherId() throws {
    let sample = try #require(try SampleReading(Self.own, .fhirResources).samples.first)
    let text = Self.own.replacing(#""id":"\#(sample.uuid.uuidString.lowercased())""#, with: #""id":"4711""#)
    #expect(text != Self.own)
    #expect(try SampleReading(text, .fhirResources).samples == [sample])
  }

  @Test func heavyResourcesAreSkippedAndDeepOnesAreErrors() throws {
    let heavy = #"{"resourceType":"Observation","a":["# + String(repeating: "{},", count: 200_000) + "1]}"
    let reading = try SampleReading(heavy + Self.own, .fhirResources)
    #expect(reading.samples.count == 1)
    #expect(reading.report.skipped.keys.contains { $0.contains("larger") })
    let inside = String(repeating: "[", count: 180) + String(repeating: "]", count: 180)
    let deep = Self.own.replacing(#""valueString":"{}""#, with: #""valueString":"{\"x\":\#(inside)}""#)
    #expect(try SampleReading(deep, .fhirResources).samples.isEmpty)
    #expect(throws: SampleFileError.self) {
      try SampleReading(String(repeating: "[", count: 300), .fhirResources)
    }
  }

  @Test func aFileThatBreaksOffGivesWhatIsWhole() throws {
    var text = SampleText()
    var maker = SampleMaker(seed: 10)
    _ = try text.write(fhir: (0..<3).map { maker.steps(at: $0) }, .bundle)
    for cut in [40, text.bytes.count / 2, text.bytes.count - 5] {
      let reading = try SampleReading(Array(text.bytes.prefix(cut)), .fhirBundle)
      #expect(!reading.report.isComplete)
      #expect(reading.samples.count < 4)
    }
    #expect(throws: SampleFileError.self) { try SampleReading(#"{"entry":7}"#, .fhirBundle) }
    #expect(throws: SampleFileError.self) { try SampleReading(#"{"entry":[7]}"#, .fhirBundle) }
    #expect(throws: SampleFileError.self) { try SampleReading(#"{"entry":[]} x"#, .fhirBundle) }
  }
}
