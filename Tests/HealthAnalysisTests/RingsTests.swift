import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import HealthAnalysis

/// Tests with the vector R1, and of activity summaries.
@Suite struct RingsTests {
  private static let day = 19_889
  private static let watch = Source(name: "Watch", bundleIdentifier: "com.apple.health.W")
  private static let phone = Source(name: "iPhone", bundleIdentifier: "com.apple.health.P")

  private let directory: TemporaryDirectory
  private let store: HealthStore
  private let zone: ZoneRules

  init() throws {
    directory = try TemporaryDirectory()
    store = try HealthStore(directory: directory.path)
    zone = try ZoneRules(named: "Europe/Berlin")
  }

  private static func instant(_ time: String) throws -> Timestamp {
    try #require(Timestamp(iso8601: "2024-06-15T\(time):00+02:00"))
  }

  private static func stand(_ hour: String, _ value: Int64, _ source: Source) throws -> Sample {
    let start = try instant(hour)
    return Sample(
      uuid: UUID(), type: SampleType("HKCategoryTypeIdentifierAppleStandHour"), start: start,
      end: Timestamp(seconds: start.seconds + 3600), source: source, payload: .category(CategoryValue(value: value)))
  }

  private static func quantity(
    _ name: String, _ source: Source, _ start: String, _ end: String, _ value: Double, _ unit: String
  ) throws -> Sample {
    Sample(
      uuid: UUID(), type: SampleType("HKQuantityTypeIdentifier" + name), start: try instant(start),
      end: try instant(end), source: source, payload: .quantity(Quantity(value, unit)))
  }

  private func rings() async throws -> [ActivityRings] {
    try await RingsQuery(days: Self.day...Self.day, in: zone).run(on: store)
  }

  @Test func R1() async throws {
    let samples = [
      try Self.stand("08:00", 0, Self.watch), try Self.stand("09:00", 1, Self.watch),
      try Self.stand("10:00", 0, Self.watch), try Self.stand("10:00", 0, Self.phone),
      try Self.stand("11:00", 1, Self.watch),
    ]
    try await store.apply(ChangeBatch(additions: samples))
    let rings = try await rings()
    #expect(rings == [ActivityRings(day: Self.day, stand: .init(2, unit: "h"), isComputed: true)])
    #expect(rings[0].stand?.share == nil)
  }

  @Test func whatNoSummarySaysIsAddedUpAndMarked() async throws {
    let samples = [
      try Self.quantity("ActiveEnergyBurned", Self.watch, "10:00", "10:10", 100, "kcal"),
      try Self.quantity("ActiveEnergyBurned", Self.phone, "10:05", "10:15", 80, "kcal"),
      try Self.quantity("AppleExerciseTime", Self.watch, "10:00", "10:10", 10, "min"),
    ]
    try await store.apply(ChangeBatch(additions: samples))
    let rings = try #require(try await rings().first)
    #expect(rings.isComputed && rings.stand == nil)
    #expect(rings.move == .init(140, unit: "kcal") && rings.exercise == .init(10, unit: "min"))
  }

  @Test func aSummaryIsTakenAsItIs() async throws {
    let summary = ActivitySummary(
      date: "2024-06-15",
      attributes: [
        "activeEnergyBurned": "1046", "activeEnergyBurnedGoal": "2092", "activeEnergyBurnedUnit": "kJ",
        "appleExerciseTime": "45", "appleExerciseTimeGoal": "30", "appleStandHours": "9", "appleStandHoursGoal": "0",
      ])
    // As from a person who was far away that day.
    let start = try #require(Timestamp(iso8601: "2024-06-14T10:00:00Z"))
    let samples = [
      Sample(
        uuid: UUID(), type: .activitySummary, start: start, end: Timestamp(seconds: start.seconds + 86_400),
        source: Self.watch, payload: .activitySummary(summary)),
      try Self.quantity("ActiveEnergyBurned", Self.watch, "10:00", "10:10", 100, "kcal"),
    ]
    try await store.apply(ChangeBatch(additions: samples))
    let all = try await rings()
    let rings = try #require(all.first)
    #expect(all.count == 1 && !rings.isComputed)
    #expect(rings.move?.value.rounded() == 250 && rings.move.flatMap(\.share).map { abs($0 - 0.5) < 1e-12 } == true)
    #expect(rings.exercise?.share == 1.5)
    #expect(rings.stand?.value == 9 && rings.stand?.goal == nil && rings.stand?.share == nil)
  }

  /// Returns a number as Apple prints it, with six digits, and half of its last digit.
  private static func printed(_ value: Double) -> (value: Double, half: Double) {
    let text = String(format: "%.6g", value)
    let digits = value == 0 ? 0 : Int(log10(abs(value)).rounded(.down))
    return (Double(text) ?? .nan, 0.5 * pow(10, Double(digits - 5)))
  }

  /// A file with all samples of a day and the day's summary contains the same values twice, except for rounding. The
  /// phone was in a pocket, and the watch takes precedence.
  @Test(arguments: 0..<20 as Range<UInt64>)
  func sumsOfAWholeDayAreThoseOfItsSummary(seed: UInt64) async throws {
    var generator = SeededGenerator(seed: seed)
    let midnight = Int64(try Self.instant("00:00").seconds)
    var (samples, energy, exercise, stand, slack): ([Sample], Double, Int, Int, Double) = ([], 0, 0, 0, 1e-9)
    func add(_ name: String, _ source: Source, _ start: Int64, _ end: Int64, _ payload: Payload) {
      samples.append(
        Sample(
          uuid: UUID(), type: SampleType(name), start: Timestamp(seconds: start), end: Timestamp(seconds: end),
          source: source, payload: payload))
    }
    for quarter in 0..<96 {
      let start = midnight + Int64(quarter) * 900
      let burned = Double.random(in: 0.02...38, using: &generator)
      let watch = Self.printed(burned)
      energy += burned
      slack += watch.half
      let energyType = "HKQuantityTypeIdentifierActiveEnergyBurned"
      add(energyType, Self.watch, start, start + 900, .quantity(Quantity(watch.value, "kcal")))
      let pocket = start + Int64.random(in: 0..<600, using: &generator)
      add(energyType, Self.phone, pocket, pocket + 250, .quantity(Quantity(burned / 4, "kcal")))
      if generator.oneIn(9) {
        exercise += 1
        add(
          "HKQuantityTypeIdentifierAppleExerciseTime", Self.watch, start, start + 60, .quantity(Quantity(1, "min")))
      }
      if quarter % 4 == 0 {
        let isStanding = !generator.oneIn(3)
        stand += isStanding ? 1 : 0
        add(
          "HKCategoryTypeIdentifierAppleStandHour", Self.watch, start, start + 3600,
          .category(CategoryValue(value: isStanding ? 0 : 1)))
      }
    }
    let total = Self.printed(energy)
    let summary = ActivityRings(
      day: Self.day,
      ActivitySummary(
        date: "2024-06-15",
        attributes: [
          "activeEnergyBurned": String(format: "%.6g", energy), "activeEnergyBurnedGoal": "500",
          "activeEnergyBurnedUnit": "kcal", "appleExerciseTime": "\(exercise)", "appleStandHours": "\(stand)",
        ]))
    try await store.apply(ChangeBatch(additions: samples))
    let computed = try #require(try await rings().first)
    #expect(computed.isComputed)
    let (move, said) = (try #require(computed.move?.value), try #require(summary.move?.value))
    #expect(abs(move - said) <= slack + total.half, "\(move) of samples, \(said) of the summary")
    #expect(computed.exercise?.value ?? 0 == summary.exercise?.value && computed.stand?.value == summary.stand?.value)
  }

  @Test func minutesOfMovementTakeThePlaceOfEnergyWithoutAGoal() {
    let attributes = [
      "activeEnergyBurned": "0", "activeEnergyBurnedGoal": "0", "activeEnergyBurnedUnit": "Cal",
      "appleMoveTime": "20", "appleMoveTimeGoal": "40",
    ]
    let rings = ActivityRings(day: 0, ActivitySummary(date: "1970-01-01", attributes: attributes))
    #expect(rings.move == .init(20, goal: 40, unit: "min") && rings.move?.share == 0.5)
  }

  @Test(arguments: ["", "nan", "inf", "-5", "many", "1e999"])
  func whatIsNoNumberIsNoRing(text: String) {
    let attributes = ["activeEnergyBurned": text, "appleStandHours": "3", "appleStandHoursGoal": text]
    let rings = ActivityRings(day: 0, ActivitySummary(date: "1970-01-01", attributes: attributes))
    #expect(rings.move == nil && rings.exercise == nil && rings.stand == .init(3, unit: "h"))
  }

  @Test func theHourThatComesTwiceIsTwo() {
    var hours = StandHours(in: zone)
    // 2024-10-27 02:00+02:00 and 02:00+01:00.
    for seconds in [1_729_987_200, 1_729_990_800, 1_729_990_860] as [Int64] {
      hours.add(start: seconds * 1_000_000, value: 0)
    }
    #expect(hours.counts == [20_023: 2])
  }
}
