import Foundation
import HealthModel
import TestSupport
import Testing

@Suite struct SamplePayloadTests {
  /// The names are part of the protocol and of stores and must never change.
  @Test func everyKindIsRegisteredOnce() {
    #expect(
      Payload.contentTypes.map { $0.kind }.sorted() == [
        "activitySummary", "audiogram", "category", "characteristic", "clinicalRecord", "correlation",
        "electrocardiogram", "quantity", "visionPrescription", "workout", "workoutRoute",
      ])
    for type in Payload.contentTypes { #expect(Payload.isKnown(kind: type.kind)) }
    #expect(!Payload.isKnown(kind: "stateOfMind"))
  }

  /// Each kind is read back from columns and from JSON, and is registered under its own name.
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

  /// Machines compare these hashes to check that they hold the same (`docs/protocol/digest.md`), so they must never
  /// change.
  @Test(arguments: vectors) func theContentHashOfAKindStays(kind: String, payload: Payload, hash: String) {
    var hasher = ContentHasher()
    let sample = Sample(
      uuid: UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)), type: SampleType("HKTest"),
      start: Timestamp(seconds: 1_700_000_000), end: Timestamp(microseconds: 1_700_000_060_500_000),
      source: Source(name: "watch"), payload: payload)
    #expect(payload.kind == kind)
    #expect(String(hasher.hash(sample), radix: 16) == hash)
  }

  @Test func everyKindHasAVector() {
    #expect(Set(Self.vectors.map(\.0)).subtracting(["tomorrow"]) == Set(Payload.contentTypes.map { $0.kind }))
  }

  private static let reference = SampleReference(
    type: SampleType("HKOther"), start: Timestamp(seconds: 1),
    uuid: UUID(uuid: (9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9)))

  private static let vectors: [(String, Payload, String)] = [
    ("quantity", .quantity(Quantity(72.5, "count/min")), "b88fec21113b79173bc5269211343a1f"),
    ("category", .category(CategoryValue(value: 3)), "3faf20feb3a8156609a66969d2812152"),
    ("correlation", .correlation(Correlation(members: [reference])), "cdd24319df8fded70088f1af75a6bd33"),
    (
      "workout",
      .workout(
        Workout(
          activityType: .name("Running"), duration: 1800.25, totals: ["totalDistance": Quantity(5, "km")],
          statistics: [WorkoutStatistics(type: SampleType("HKOther"), sum: 350, unit: "kcal")])),
      "b856613495044286bf7dc05c35530cfc"
    ),
    (
      "activitySummary", .activitySummary(ActivitySummary(date: "2024-06-15", attributes: ["appleStandHours": "12"])),
      "411aa5a64c0ac321596990af9218d124"
    ),
    ("characteristic", .characteristic(CharacteristicValue(value: "1980-02-29")), "47e81ccea8b745722abd9ca54c6f4ffe"),
    (
      "workoutRoute",
      .workoutRoute(
        WorkoutRoute(
          workout: reference, path: "/workout-routes/a.gpx",
          points: [
            RoutePoint(time: 0.5, latitude: 48.1, longitude: -11.5, elevation: 520),
            RoutePoint(latitude: 48.2, longitude: -11.6),
          ])), "4049cf0b6d6b71bd861739cfe08609b6"
    ),
    (
      "electrocardiogram",
      .electrocardiogram(
        Electrocardiogram(
          classification: "SinusRhythm", samplingFrequency: 512, unit: "µV", voltages: [1.5, -0.25, .nan])),
      "245b3e3cf7ae3c82d3e12678ff781734"
    ),
    (
      "audiogram",
      .audiogram(
        Audiogram(points: [
          SensitivityPoint(frequency: Quantity(1000, "Hz"), left: EarSensitivity(threshold: Quantity(15, "dBHL")))
        ])),
      "3ac3a83f4869c28d9cdc6f2f3e2e63f6"
    ),
    (
      "visionPrescription",
      .visionPrescription(VisionPrescription(brand: "a \"brand\"", right: ["sphere": Quantity(-1.25, "D")])),
      "71ca6e67e79e34c9e61285c0e50404f3"
    ),
    (
      "clinicalRecord",
      .clinicalRecord(ClinicalRecord(identifier: "a-1", resource: .object(["resourceType": .string("Observation")]))),
      "5e203d907d1f610cbca0101323e1dda4"
    ),
    (
      "tomorrow", .unknown(kind: "tomorrow", content: .array([.null, .bool(true), .string("é")])),
      "b9bdffcc4abe57f04518419bc2e87e43"
    ),
  ]
}
