import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import HealthAnalysis

/// Tests of the day summary and of the list of types.
@Suite struct OverviewTests {
  private static let steps = SampleType("HKQuantityTypeIdentifierStepCount")
  /// The day of these tests, Saturday, 2024-06-15, in days since 1970-01-01.
  private static let day = 19_889
  private static let watch = Source(name: "Watch")

  private let directory: TemporaryDirectory
  private let store: HealthStore
  private let zone: ZoneRules

  init() throws {
    directory = try TemporaryDirectory()
    store = try HealthStore(directory: directory.path)
    zone = try ZoneRules(named: "Europe/Berlin")
  }

  private func sample(
    _ type: SampleType, _ day: Int, hour: Int64 = 9, seconds: Int64 = 60, _ payload: Payload
  ) -> Sample {
    let start = Timestamp(seconds: zone.start(ofDay: day) + hour * 3600)
    return Sample(
      uuid: UUID(), type: type, start: start, end: Timestamp(seconds: start.seconds + seconds), source: Self.watch,
      payload: payload)
  }

  private func steps(_ day: Int, _ value: Double) -> Sample {
    sample(Self.steps, day, .quantity(Quantity(value, "count")))
  }

  private func summary(now hours: Int64 = 1_000) async throws -> DaySummary {
    try await DaySummaryQuery(
      day: Self.day, in: zone, now: Timestamp(seconds: zone.start(ofDay: Self.day) + hours * 3600)
    ).run(on: store)
  }

  @Test func aDayStandsBesideWhatIsUsual() async throws {
    // The week begins on 10 June; before it are 28 days with 1000 to 1027 steps.
    let before = (0..<28).map { steps(Self.day - 5 - 28 + $0, 1000 + Double($0)) }
    let week = [steps(Self.day - 5, 2000), steps(Self.day - 1, 4000), steps(Self.day, 9000), steps(Self.day + 1, 1)]
    try await store.apply(ChangeBatch(additions: before + week))
    let over = try await summary()
    let entry = try #require(over.types.first)
    #expect(over.types.count == 1 && !over.isPartial && entry.isUnusual)
    #expect(entry.number?.representative == 9000)
    #expect(entry.week.now.days == 3 && entry.week.now.mean == 5000)
    #expect(entry.week.before.days == 28 && entry.week.before.mean == 1013.5)
    #expect(entry.baseline?.days == 25)
    // What is not over is not called unusual, and not in the week.
    let running = try await summary(now: 12)
    #expect(running.isPartial && running.types.first?.isUnusual == false)
    #expect(running.types.first?.number?.representative == 9000 && running.types.first?.week.now.days == 2)
    #expect(running.rings == nil && running.night == nil && running.workouts.isEmpty)
  }

  @Test func theNewestPressureIsOneReading() async throws {
    let type = "HKQuantityTypeIdentifierBloodPressure"
    func reading(_ day: Int, _ systolic: Double?, _ diastolic: Double) -> [Sample] {
      let lower = sample(SampleType(type + "Diastolic"), day, .quantity(Quantity(diastolic, "mmHg")))
      let upper = systolic.map { sample(SampleType(type + "Systolic"), day, .quantity(Quantity($0, "mmHg"))) }
      let members = [upper, lower].compactMap { $0?.reference }
      return [upper, lower].compactMap(\.self)
        + [sample(BloodPressure.type, day, .correlation(Correlation(members: members)))]
    }
    let all = reading(Self.day - 3, 120, 80) + reading(Self.day - 2, 16, 10.5) + reading(Self.day - 1, nil, 70)
    try await store.apply(ChangeBatch(additions: all + reading(Self.day + 1, 200, 100)))
    let pressure = try await summary().bloodPressure
    #expect(pressure?.systolic == 16 && pressure?.diastolic == 10.5)
    let range = Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)
    #expect(try await BloodPressure.all(in: range, in: store).map(\.systolic) == [120, 16, 200])
    #expect(try await BloodPressure.all(in: range, from: ["Cuff"], in: store).isEmpty)
  }

  @Test func pressuresOfEqualInstantsAreMeasurements() async throws {
    let kinds = [true: "Systolic", false: "Diastolic"].mapValues {
      SampleType("HKQuantityTypeIdentifierBloodPressure" + $0)
    }
    func value(_ isSystolic: Bool, _ value: Double, _ day: Int, hour: Int64 = 9, _ source: String = "Cuff") -> Sample {
      var sample = sample(
        kinds[isSystolic] ?? Self.steps, day, hour: hour, seconds: 0, .quantity(Quantity(value, "mmHg")))
      sample.source = Source(name: source)
      return sample
    }
    let pair = [value(true, 130, Self.day - 2), value(false, 85, Self.day - 2)]
    let correlation = sample(
      BloodPressure.type, Self.day - 2, seconds: 0, .correlation(Correlation(members: pair.map(\.reference))))
    let alone = [
      value(true, 120, Self.day - 1), value(false, 80, Self.day - 1), value(false, 70, Self.day - 1, "Other"),
    ]
    // Of two that do not belong together nothing is made, nor of four in one instant.
    let apart =
      [value(true, 110, Self.day, hour: 8), value(false, 75, Self.day, hour: 9)]
      + [150, 160].map { value(true, $0, Self.day, hour: 7) } + [90, 95].map { value(false, $0, Self.day, hour: 7) }
    try await store.apply(ChangeBatch(additions: pair + [correlation] + alone + apart))
    let range = Timestamp(seconds: 0)..<Timestamp(seconds: zone.start(ofDay: Self.day + 1))
    let all = try await BloodPressure.all(in: range, in: store)
    #expect(all.map(\.systolic) == [130, 120] && all.map(\.diastolic) == [85, 80])
    #expect(try await BloodPressure.newest(before: range.upperBound, in: store)?.systolic == 120)
    #expect(try await BloodPressure.all(in: range, from: ["Other"], in: store).isEmpty)
  }

  @Test func whatARecordHasFillsASummary() async throws {
    let glucose = SampleType("HKQuantityTypeIdentifierBloodGlucose")
    let iron = SampleType("HKQuantityTypeIdentifierDietaryIron")
    try await store.apply(
      ChangeBatch(additions: [
        sample(glucose, Self.day, .quantity(Quantity(95, "mg/dL"))),
        sample(iron, Self.day, .quantity(Quantity(8, "mg"))),
      ]))
    var query = DaySummaryQuery(day: Self.day, in: zone)
    #expect(try await query.run(on: store).types.isEmpty)
    query.leastTypes = 10
    #expect(try await query.run(on: store).types.map(\.type.shortName) == ["bloodGlucose", "dietaryIron"])
    query.leastTypes = 1
    #expect(try await query.run(on: store).types.count == 1)
    // Of a day with nothing, what there is.
    query.day += 400
    let newest = try #require(try await query.run(on: store).newest)
    #expect(newest.samples == 2 && zone.dayNumber(at: newest.start.seconds) == Self.day)
    query.day -= 800
    #expect(try await query.run(on: store).newest == nil)
  }

  @Test func coverageHasDaysAndGaps() async throws {
    let days = [0, 1, 2, 5, 6, 12]
    // Just before midnight belongs to the day.
    let samples = days.map { sample(.workout, Self.day + $0, hour: 23, .workout(Workout(activityType: .value(37)))) }
    try await store.apply(ChangeBatch(additions: samples + [samples[0]]))
    let all = Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)
    let coverage = try await Coverage.coverage(of: .workout, in: all, zone: zone, store: store)
    #expect(coverage.days == Dictionary(uniqueKeysWithValues: days.map { (Self.day + $0, 1) }))
    #expect(coverage.extent == Self.day...Self.day + 12)
    #expect(coverage.gaps == [Self.day + 3..<Self.day + 5, Self.day + 7..<Self.day + 12])
    let part = Timestamp(seconds: zone.start(ofDay: Self.day + 5))..<Timestamp(seconds: zone.start(ofDay: Self.day + 7))
    #expect(try await Coverage.coverage(of: .workout, in: part, zone: zone, store: store).days.count == 2)
    let none = try await Coverage.coverage(of: .workout, in: all, from: ["Cuff"], zone: zone, store: store)
    #expect(none.extent == nil && none.gaps.isEmpty)
  }
}
