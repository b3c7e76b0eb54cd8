import Foundation
import HealthModel
import TestSupport
import Testing

@Suite struct SamplePayloadTests {
  /// The names are on the wire and in stores: none may change or go.
  @Test func everyKindIsRegisteredOnce() {
    #expect(
      Payload.contentTypes.map { $0.kind }.sorted() == [
        "activitySummary", "audiogram", "category", "characteristic", "clinicalRecord", "correlation",
        "electrocardiogram", "quantity", "visionPrescription", "workout", "workoutRoute",
      ])
    for type in Payload.contentTypes { #expect(Payload.isKnown(kind: type.kind)) }
    #expect(!Payload.isKnown(kind: "stateOfMind"))
  }

  /// By columns and by JSON; and what it says of itself is what it is registered as.
  @Test func eachKindReadsWhatItWrites() throws {
    var maker = SampleMaker(seed: 12)
    let samples = SampleMaker.edgeCases + maker.samples(500)
    var kinds: Set<String> = []
    var hasher = ContentHasher()
    for sample in samples {
      kinds.insert(sample.payload.kind)
      let columns = try CodedPayload(sample.payload)
      var again = sample
      again.payload = try Payload(
        kind: sample.payload.kind, number: columns.number, unit: columns.unit, json: columns.json)
      let read = try CanonicalJSON.decode(Sample.self, CanonicalJSON.encode(sample))
      let hash = hasher.hash(sample)
      #expect(hasher.hash(again) == hash && hasher.hash(read) == hash, "\(sample.payload.kind)")
      #expect(again.payload.kind == sample.payload.kind && read.payload.kind == sample.payload.kind)
    }
    #expect(kinds.isSuperset(of: Payload.contentTypes.map { $0.kind }))
  }
}
