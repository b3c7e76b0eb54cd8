import Foundation
import HealthModel
import TestSupport
import Testing

@testable import Destinations

@Suite struct NameRedactionTests {
  @Test("no name of a source or device is left, and everything else is")
  func names() throws {
    var maker = SampleMaker(seed: 3)
    var samples = maker.samples(300)
    for index in samples.indices {
      samples[index].source = Source(
        name: "Robin's Watch \(index)", bundleIdentifier: "com.robin.\(index)", version: "10.5")
      samples[index].device = Device(
        name: "Robin \(index)", model: "Watch", localIdentifier: "Robin-\(index)", text: "Robin")
      samples[index].metadata["HKDeviceName"] = "Robin"
      if index.isMultiple(of: 2) { samples[index].metadata = ["HKDeviceSerialNumber": "Robin 1"] }
    }
    var coder = ChangeCoder()
    for sample in samples { try coder.add(sample) }
    for sample in maker.samples(5) { coder.add(Tombstone(sample: sample.reference, deleted: .now, source: "Robin")) }
    let redacted = try DeliveryBatch(changes: coder.changes, startsOver: false).withoutNames()
    let additions = try redacted.additions()
    // Texts, because NaN is not equal to itself.
    func json(_ samples: [Sample]) throws -> String {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      return String(decoding: try encoder.encode(samples), as: UTF8.self)
    }
    let text = try json(additions)
    let expected = try json(samples.map(NameRedaction.applied))
    #expect(text == expected)
    #expect(!text.lowercased().contains("robin") && text.contains("10.5") && text.contains("Watch"))
    #expect(redacted.deletions.count == 5)
    #expect(redacted.deletions.allSatisfy { $0.source?.contains("Robin") != true })
    #expect(
      (redacted.changes.sources.count, redacted.changes.devices.count) == (2, 1) || redacted.changes.sources.count == 1)
  }

  @Test("nor is one in what is kept as another program has written it")
  func foreignPayloads() throws {
    func payload(_ name: String?) -> Payload {
      var inner: [String: JSONValue] = ["qty": .integer(60)]
      var outer: [String: JSONValue] = ["name": .string("Run")]
      if let name {
        inner["source"] = .string(name)
        outer["source"] = .string(name)
        outer["device"] = .object(["name": .string(name)])
      }
      outer["heartRateData"] = .array([.object(inner), .null])
      return .foreign("healthAutoExport", .object(outer))
    }
    func sample(_ payload: Payload) -> Sample {
      Sample(
        uuid: UUID(), type: SampleType("hae.workout"), start: Timestamp(seconds: 0), end: Timestamp(seconds: 60),
        source: Source(name: "Robin's Watch"), payload: payload)
    }
    // A known kind has its own members.
    let known = Payload.workout(Workout(activityType: .value(37), duration: 60))
    var coder = ChangeCoder()
    for payload in [payload("Robin's Watch"), known] { try coder.add(sample(payload)) }
    let redacted = try DeliveryBatch(changes: coder.changes, startsOver: false).withoutNames().additions()
    #expect(redacted.map(\.payload) == [payload(nil), known])
    #expect(NameRedaction.applied(to: sample(payload("Robin's Watch"))).payload == payload(nil))
  }
}
