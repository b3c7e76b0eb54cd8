import Foundation
import HealthModel
import Testing

/// Tests of derived UUIDs. The expected values were computed with Python's `uuid.uuid5` and are frozen: a change
/// would make every imported sample in every store a new sample.
@Suite struct SampleIdentityTests {
  private func uuid(
    _ kind: String, _ type: String, _ source: String, _ start: Int64, _ end: Int64, _ created: Int64?, _ ordinal: Int
  ) -> String {
    SampleIdentity.uuid(
      kind: kind, type: SampleType(type), source: source, start: Timestamp(seconds: start),
      end: Timestamp(seconds: end),
      created: created.map { Timestamp(seconds: $0) }, ordinal: ordinal
    ).uuidString.lowercased()
  }

  @Test func theNamespaceIsFrozen() {
    #expect(SampleIdentity.namespace.uuidString.lowercased() == "93ffb994-c387-57ba-b262-841d29fd581b")
  }

  @Test func recordsAreFrozen() {
    #expect(
      uuid(
        "record", "HKQuantityTypeIdentifierHeartRate", "Nam\u{2019}s\u{A0}Apple Watch", 1_718_440_200, 1_718_440_205,
        1_718_440_210, 0) == "0ebf3345-86f0-5ef8-bd9d-4f088ca6d4b3")
    #expect(
      uuid("record", "HKQuantityTypeIdentifierStepCount", "", 0, 0, nil, 1) == "38f6bd87-468e-5686-83e5-e82a1d103b26")
    #expect(
      uuid("category? no", "HKCategoryTypeIdentifierSleepAnalysis", "😴", -1, -86_400, -2, 12)
        == "3ea6f76b-c286-517d-9ff6-337edb9ab145")
  }

  @Test func otherKindsAreFrozen() {
    #expect(
      uuid("workout", "HKWorkoutTypeIdentifier", "Watch", 1_700_000_000, 1_700_003_600, nil, 0)
        == "ba1ff2b9-63b6-55c3-a81e-4cd856364871")
    #expect(
      uuid(
        "correlation", "HKCorrelationTypeIdentifierBloodPressure", "Cuff & Co", 1_700_000_000, 1_700_000_000,
        1_700_000_002, 0) == "5e00983a-4c30-54ca-9ca1-8f5d13989a47")
    #expect(
      uuid(
        "ClinicalRecord:6F1A", "HKClinicalTypeIdentifierLabResultRecord", "Clinic", 1_600_000_000, 1_600_000_000, nil, 0
      )
        == "af3a2503-32f3-58e3-bcfd-11df9a522013")
  }

  @Test func readingsAreFrozen() {
    let day = Timestamp(seconds: 1_506_297_600)
    let summary = Sample(
      uuid: UUID(), type: .activitySummary, start: day, end: day, source: Source(name: "Health"),
      payload: .activitySummary(
        ActivitySummary(date: "2017-09-25", attributes: ["appleStandHours": "9", "activeEnergyBurned": "301.5"])))
    #expect(
      SampleIdentity.uuid(ofReading: summary).uuidString.lowercased() == "98d60016-7df7-8bc4-b874-feb1c4fdb814")
    var sex = summary
    sex.type = SampleType("HKCharacteristicTypeIdentifierBiologicalSex")
    sex.start = Timestamp(seconds: 0)
    sex.payload = .characteristic(CharacteristicValue(value: "HKBiologicalSexFemale"))
    #expect(SampleIdentity.uuid(ofReading: sex).uuidString.lowercased() == "ebeaa748-fb17-83d3-b001-cef5a7a116ed")
    var other = summary
    other.payload = .activitySummary(ActivitySummary(date: "2017-09-25", attributes: ["appleStandHours": "10"]))
    #expect(SampleIdentity.uuid(ofReading: other) == SampleIdentity.uuid(ofReading: summary))
    #expect(SampleIdentity.uuid(ofReading: summary).isOfReading)
  }

  @Test func aReadingOfAnAppIsOfAPeriodAndASender() {
    let start = Timestamp(seconds: 1_506_297_600)
    func uuid(end: Int64, period: String?, sender: String = "", _ value: Double = 4000) -> UUID {
      SampleIdentity.uuid(
        ofReading: Sample(
          uuid: UUID(), type: SampleType("hae.step_count"), start: start, end: Timestamp(seconds: start.seconds + end),
          source: Source(name: "Watch"), metadata: period.map { ["hpeer.aggregation": .string($0)] } ?? [:],
          payload: .quantity(Quantity(value, "count"))), sender: sender)
    }
    let day = uuid(end: 86_400, period: "day", sender: "inbox:phone")
    #expect(day.uuidString.lowercased() == "6a7e8a6d-b10d-8f50-9e9f-10a0eb873708")
    #expect(uuid(end: 3_600, period: nil).uuidString.lowercased() == "83c60ba5-26a8-83fe-aa21-cc51ac835c22")
    #expect(uuid(end: 40_000, period: "day") == uuid(end: 86_400, period: "day", 9000))
    let others = [
      uuid(end: 86_400, period: "day"), uuid(end: 86_400, period: nil), uuid(end: 3_600, period: nil),
      uuid(end: 3_600, period: "hour"), uuid(end: 86_400, period: "day", sender: "inbox:phone"),
    ]
    #expect(Set(others).count == others.count)
  }

  @Test func whatIsBroughtBackIsAReadingAsBefore() {
    let reading = SampleIdentity.uuid(
      ofReading: Sample(
        uuid: UUID(), type: .activitySummary, start: Timestamp(seconds: 0), end: Timestamp(seconds: 0),
        source: Source(name: "Health"), payload: .characteristic(CharacteristicValue(value: "A"))))
    #expect(SampleIdentity.uuid(ofRestored: reading, ordinal: 0).isOfReading)
    #expect(!SampleIdentity.uuid(ofRestored: SampleIdentity.namespace, ordinal: 0).isOfReading)
  }

  @Test func fractionsOfASecondDoNotMatter() {
    func uuid(_ microseconds: Int64) -> UUID {
      SampleIdentity.uuid(
        kind: "record", type: SampleType("t"), source: "s", start: Timestamp(microseconds: microseconds),
        end: Timestamp(seconds: 0), created: nil, ordinal: 0)
    }
    #expect(uuid(1_999_999) == uuid(1_000_000))
    #expect(uuid(-1) == uuid(-1_000_000))
    #expect(uuid(0) != uuid(-1))
  }

  @Test func everyPartOfTheKeyMatters() {
    let variants = [
      uuid("record", "t", "s", 1, 2, 3, 0), uuid("workout", "t", "s", 1, 2, 3, 0), uuid("record", "u", "s", 1, 2, 3, 0),
      uuid("record", "t", "r", 1, 2, 3, 0), uuid("record", "t", "s", 0, 2, 3, 0), uuid("record", "t", "s", 1, 3, 3, 0),
      uuid("record", "t", "s", 1, 2, nil, 0), uuid("record", "t", "s", 1, 2, 3, 1),
    ]
    #expect(Set(variants).count == variants.count)
  }
}

@Suite struct SampleEquivalenceTests {
  private func sample(_ payload: Payload, type: String = "HKQuantityTypeIdentifierDistanceWalkingRunning") -> Sample {
    Sample(
      uuid: UUID(), type: SampleType(type), start: Timestamp(seconds: 0), end: Timestamp(seconds: 0),
      source: Source(name: ""), payload: payload)
  }

  @Test func theCanonicalValueIsTheSameInAnyUnit() {
    let metric = sample(.quantity(Quantity(5.12345, "km")))
    let imperial = sample(.quantity(Quantity(3.18356, "mi")))
    #expect(metric.canonicalValue == imperial.canonicalValue)
    #expect(metric.isEquivalent(to: imperial))
  }

  @Test func otherValuesAreNotEquivalent() {
    #expect(!sample(.quantity(Quantity(5, "km"))).isEquivalent(to: sample(.quantity(Quantity(5.01, "km")))))
    #expect(!sample(.category(CategoryValue(value: 1))).isEquivalent(to: sample(.category(CategoryValue(value: 2)))))
    #expect(!sample(.category(CategoryValue(value: 1))).isEquivalent(to: sample(.quantity(Quantity(1, "")))))
  }

  @Test func valuesWithoutANumberHaveOneToo() {
    #expect(sample(.category(CategoryValue(value: 4))).canonicalValue == "4")
    #expect(sample(.category(CategoryValue(value: nil, name: "x"))).canonicalValue == "x")
    #expect(sample(.category(CategoryValue(value: nil))).canonicalValue == "")
    #expect(sample(.workout(Workout(activityType: .value(37)))).canonicalValue == "HKWorkoutActivityTypeRunning")
  }
}
