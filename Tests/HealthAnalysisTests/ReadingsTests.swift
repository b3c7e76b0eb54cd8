import Foundation
import HealthAnalysis
import HealthModel
import HealthStore
import TestSupport
import Testing

/// Tests of the sums and means that apps send in addition to samples (docs/reference/statistics.md, "Readings of
/// apps").
@Suite("Readings of apps", .timeLimit(.minutes(5)))
struct ReadingsTests {
  private static let steps = SampleType("HKQuantityTypeIdentifierStepCount")
  private static let heartRate = SampleType("HKQuantityTypeIdentifierHeartRate")
  /// The start of these tests, 2026-01-05 00:00 in Berlin.
  private static let midnight: Int64 = 1_767_567_600
  private static let day: Int64 = 86_400

  private let directory: TemporaryDirectory
  private let store: HealthStore
  private let zone: ZoneRules

  init() throws {
    directory = try TemporaryDirectory(inMemory: true)
    store = try HealthStore(directory: directory.path)
    zone = try ZoneRules(named: "Europe/Berlin")
  }

  /// - Parameters:
  ///   - start: The start, in seconds since midnight.
  ///   - length: The duration, in seconds.
  private static func sample(
    _ type: String, _ value: Double, _ unit: String = "count", at start: Int64, for length: Int64,
    source: String = "Watch|iPhone"
  ) -> Sample {
    Sample(
      uuid: UUID(), type: SampleType(type), start: Timestamp(seconds: midnight + start),
      end: Timestamp(seconds: midnight + start + length), source: Source(name: source),
      payload: .quantity(Quantity(value, unit)))
  }

  private static func members(
    _ type: String, _ members: [String: JSONValue], at start: Int64, for length: Int64
  ) -> Sample {
    var sample = sample(type, 0, at: start, for: length)
    sample.payload = .foreign("healthAutoExport", .object(members))
    return sample
  }

  private func add(_ samples: [Sample]) async throws { try await store.apply(ChangeBatch(additions: samples)) }

  private func query(_ type: SampleType, _ size: BucketSize, _ rule: ReadingRule = .all) -> StatisticsQuery {
    var query = StatisticsQuery(type, by: size, in: zone, now: Timestamp(seconds: Self.midnight + 400 * Self.day))
    query.readings = rule
    query.marksRecordEnd = false
    return query
  }

  private func sums(
    _ size: BucketSize = .day, _ rule: ReadingRule = .all, of type: SampleType = steps
  ) async throws -> [Double] {
    try await query(type, size, rule).run(on: store).values.map { value in
      if case .sum(let sum) = value.number { (sum.sum * 1e6).rounded() / 1e6 } else { .nan }
    }
  }

  private func values(_ type: SampleType, _ size: BucketSize = .day) async throws -> [DiscreteValues] {
    try await query(type, size).run(on: store).values.compactMap { value in
      if case .discrete(let values) = value.number { values } else { nil }
    }
  }

  // MARK: Sums

  @Test("R1: the steps that an app has sent of a day are those of the day, and of no hour")
  func dayAlone() async throws {
    try await add([Self.sample("hae.step_count", 8_432, at: 0, for: Self.day)])
    let day = try #require(try await query(Self.steps, .day).run(on: store).values.first)
    guard case .sum(let sum) = day.number else { return #expect(Bool(false), "no sum") }
    #expect(sum.sum == 8_432 && sum.readings == 8_432)
    #expect(sum.sources.map(\.name) == ["Watch|iPhone (Health Auto Export)"])
    #expect(try await query(Self.steps, .day).run(on: store).unit == "count")
    #expect(try await sums(.hour).isEmpty)
    #expect(try await sums(.month) == [8_432])
    #expect(try await sums(.day, .none).isEmpty)
  }

  @Test("R2, R3: of samples and a day that was sent, the larger counts", arguments: [5_000.0, 9_000])
  func largerOfBoth(measured: Double) async throws {
    try await add([
      Self.sample("HKQuantityTypeIdentifierStepCount", measured, at: 8 * 3_600, for: 4 * 3_600, source: "Watch"),
      Self.sample("hae.step_count", 8_000, at: 0, for: Self.day),
    ])
    #expect(try await sums() == [max(measured, 8_000)])
    #expect(try await sums(.day, .none) == [measured])
    // What the samples say of their hours stays.
    #expect(try await sums(.hour) == Array(repeating: measured / 4, count: 4))
  }

  @Test("R4: the minutes of an app and its day are not added, nor are the days of two apps")
  func notAdded() async throws {
    let minutes = (0..<60).map { Self.sample("hae.step_count", 100, at: 36_000 + Int64($0) * 60, for: 60) }
    try await add(minutes + [Self.sample("hae.step_count", 6_100, at: 0, for: Self.day)])
    #expect(try await sums() == [6_100])
    #expect(try await sums(.hour) == [6_000])
    try await add([
      Self.sample("p247.step_count", 6_300, at: 0, for: Self.day, source: "P247"),
      Self.sample("healthpush.steps", 6_250, at: 0, for: Self.day, source: "HealthPush"),
    ])
    #expect(try await sums() == [6_300])
  }

  @Test("R5: what is longer than a bucket is not in it")
  func longerThanBuckets() async throws {
    try await add([Self.sample("hae.step_count", 70_000, at: 0, for: 7 * Self.day)])
    #expect(try await sums(.day).isEmpty)
    #expect(try await sums(.week) == [70_000])
  }

  @Test("R6: a day that was sent in another zone belongs to two days of the home zone, by its time in each")
  func otherZone() async throws {
    try await add([Self.sample("hae.step_count", 2_400, at: 3_600, for: Self.day)])
    #expect(try await sums() == [2_300, 100])
  }

  @Test("the numbers of a bucket do not depend on where the question begins")
  func edges() async throws {
    let minutes = (0..<15).map { Self.sample("hae.step_count", 10, at: -1_800 + Int64($0) * 60, for: 60) }
    try await add(minutes + [Self.sample("hae.step_count", 300, at: -1_800, for: 3_600)])
    let all = try await query(Self.steps, .day).run(on: store).values
    var later = query(Self.steps, .day)
    later.start = Timestamp(seconds: Self.midnight)
    #expect(try await later.run(on: store).values.map(\.number) == all.suffix(1).map(\.number))
  }

  @Test("a question that ends before it begins has no values, of whatever type", arguments: BucketSize.allCases)
  func endsBeforeItBegins(size: BucketSize) async throws {
    let held = ["hae.step_count", "hae.heart_rate", "hae.dietary_energy", "healthpush.steps"].map {
      Self.members($0, ["qty": .number(5), "units": .string("count")], at: 0, for: Self.day)
    }
    try await add(held + [Self.sample(Self.steps.rawValue, 100, at: 0, for: 600)])
    for entry in SampleTypeCatalogue.healthKit.entries where entry.aggregation != nil {
      var question = query(entry.type, size)
      question.start = Timestamp(seconds: Self.midnight + 2 * Self.day)
      question.end = Timestamp(seconds: Self.midnight)
      #expect(try await question.run(on: store).values.isEmpty)
    }
  }

  @Test("R7: a day of nothing is 0, and no gap")
  func nothing() async throws {
    try await add([Self.sample("hae.step_count", 0, at: 0, for: Self.day)])
    #expect(try await sums() == [0])
  }

  @Test("R8: units of apps are HealthKit's by another name")
  func units() async throws {
    try await add([
      Self.sample("hae.active_energy", 418.4, "kJ", at: 0, for: Self.day),
      Self.sample("hae.walking_running_distance", 2, "mi", at: 0, for: Self.day),
      Self.sample("hae.body_fat_percentage", 22.5, "%", at: 0, for: Self.day),
      Self.sample("hae.resting_heart_rate", 58, "bpm", at: 0, for: Self.day),
      Self.sample("hae.heart_rate_variability_rmssd", 20.5, "ms", at: 0, for: Self.day),
      Self.sample("hae.blood_glucose", 5.5, "mmol/L", at: 0, for: 60),
    ])
    func kit(_ name: String) -> SampleType { SampleType("HKQuantityTypeIdentifier\(name)") }
    #expect(try await sums(of: kit("ActiveEnergyBurned")) == [100])
    #expect(try await sums(of: kit("DistanceWalkingRunning")) == [3_218.688])
    #expect(try await values(kit("BodyFatPercentage")).map { ($0.last * 1e6).rounded() } == [225_000])
    #expect(try await values(kit("RestingHeartRate")).map(\.last) == [58])
    #expect(try await values(kit("HeartRateVariabilityRMSSD")).map(\.last) == [20.5])
    #expect(try await values(kit("BloodGlucose")).map { $0.last.rounded() } == [99])
  }

  // MARK: Anything else

  @Test("R9: a mean with its extremes is a band, where no sample begins in its time")
  func band() async throws {
    try await add([
      Self.members(
        "hae.heart_rate",
        ["Min": .integer(52), "Avg": .integer(70), "Max": .integer(140), "units": .string("count/min")], at: 3_600,
        for: 3_600)
    ])
    var found = try await values(Self.heartRate)
    #expect(found.count == 1 && found[0].minimum == 52 && found[0].maximum == 140 && found[0].readings == 1)
    #expect(found[0].meanOfSamples == 70 && found[0].mean == 70)
    try await add([
      Self.sample("HKQuantityTypeIdentifierHeartRate", 60, "count/min", at: 2 * 3_600, for: 0, source: "Watch")
    ])
    #expect(try await values(Self.heartRate).map(\.readings) == [1])
    try await add([
      Self.sample("HKQuantityTypeIdentifierHeartRate", 61, "count/min", at: 5_000, for: 0, source: "Watch")
    ])
    found = try await values(Self.heartRate)
    #expect(found.count == 1 && found[0].maximum == 61 && found[0].count == 2 && found[0].readings == 0)
  }

  @Test("R10: the two pressures of a reading are of their types")
  func pressures() async throws {
    try await add([
      Self.members(
        "hae.blood_pressure", ["systolic": .integer(121), "diastolic": .integer(79), "units": .string("mmHg")],
        at: 30_000, for: 60)
    ])
    #expect(
      try await values(SampleType("HKQuantityTypeIdentifierBloodPressureSystolic")).map(\.last) == [121])
    #expect(
      try await values(SampleType("HKQuantityTypeIdentifierBloodPressureDiastolic")).map(\.last) == [79])
  }

  @Test("R11: who may not know of a type of readings gets no number of it")
  func scoped() async throws {
    try await add([Self.sample("hae.step_count", 8_432, at: 0, for: Self.day)])
    var question = query(Self.steps, .day)
    question.readingTypes = [Self.steps]
    #expect(try await question.run(on: store).values.isEmpty)
    question.readingTypes = [SampleType("hae.step_count")]
    #expect(try await question.run(on: store).values.count == 1)
    question.sources = ["iPhone"]
    #expect(try await question.run(on: store).values.isEmpty)
  }

  @Test("R12: an app's own type of what adds up has a sum")
  func ownType() async throws {
    try await add((0..<9).map { Self.sample("hae.step_count", 1.5, at: 36_000 + Int64($0) * 60, for: 60) })
    #expect(try await sums(of: SampleType("hae.step_count")) == [13.5])
  }

  @Test("the last day that an app has sent is partial until a later one comes")
  func partial() async throws {
    func flags() async throws -> [Bool] {
      var question = query(Self.steps, .day)
      question.marksRecordEnd = true
      return try await question.run(on: store).values.map(\.isPartial)
    }
    try await add((0..<3).map { Self.sample("hae.step_count", 5_000, at: Int64($0) * Self.day, for: Self.day) })
    #expect(try await flags() == [false, false, true])
    try await add([Self.sample("hae.step_count", 12, at: 3 * Self.day, for: Self.day)])
    #expect(try await flags() == [false, false, false, true])
  }

  @Test("a summary of a day shows what apps have sent, its own types among others")
  func summary() async throws {
    try await add([
      Self.sample("hae.step_count", 8_432, at: 0, for: Self.day),
      Self.sample("hae.dietary_water", 1_500, "mL", at: 0, for: Self.day),
    ])
    var query = DaySummaryQuery(
      day: zone.dayNumber(at: Self.midnight), in: zone, now: Timestamp(seconds: Self.midnight + 2 * Self.day))
    query.leastTypes = 4
    let types = try await query.run(on: store).types
    #expect(types.map(\.type.shortName) == ["stepCount", "dietaryWater"])
    query.readings = .none
    #expect(try await query.run(on: store).types.isEmpty)
  }

  // MARK: Histories

  /// Returns the expected sums, computed minute by minute and independently of the product. A reading fills its
  /// minutes up to its value, shorter readings first.
  private func reference(
    _ samples: [(start: Int, length: Int, value: Double)], _ readings: [(start: Int, length: Int, value: Double)],
    minutes: Int, bucket: Int
  ) -> [Int: Double] {
    var line = Array(repeating: 0.0, count: minutes)
    var isTouched = Array(repeating: false, count: minutes)
    for sample in samples {
      for minute in sample.start..<sample.start + sample.length {
        line[minute] += sample.value / Double(sample.length)
        isTouched[minute] = true
      }
    }
    for reading in readings.sorted(by: { ($0.length, $0.start, $0.value) < ($1.length, $1.start, $1.value) })
    where reading.length <= bucket {
      let range = reading.start..<reading.start + reading.length
      let missing = reading.value - line[range].reduce(0, +)
      for minute in range {
        isTouched[minute] = true
        if missing > 1e-9 * reading.value { line[minute] += missing / Double(reading.length) }
      }
    }
    var sums: [Int: Double] = [:]
    for minute in 0..<minutes where isTouched[minute] { sums[minute / bucket, default: 0] += line[minute] }
    return sums
  }

  @Test("no day is counted twice and none loses, in 400 histories of samples and of what three apps have sent")
  func histories() async throws {
    for seed in 0..<400 as Range<UInt64> {
      var random = SeededGenerator(seed: seed)
      let days = Int.random(in: 1...3, using: &random)
      let minutes = days * 1_440
      var samples: [(start: Int, length: Int, value: Double)] = []
      var minute = 0
      while minute < minutes, Bool.random(using: &random) || samples.count < 2 {
        let start = minute + Int.random(in: 0...700, using: &random)
        let length = Int.random(in: 1...90, using: &random)
        if start + length > minutes { break }
        samples.append((start, length, Double(Int.random(in: 0...4_000, using: &random))))
        minute = start + length
      }
      var readings: [(start: Int, length: Int, value: Double)] = []
      var batch = samples.map {
        Self.sample(
          "HKQuantityTypeIdentifierStepCount", $0.value, at: Int64($0.start) * 60, for: Int64($0.length) * 60,
          source: "Watch")
      }
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        let length = [1, 60, 60, 1_440, 1_440].randomElement(using: &random) ?? 1
        let start = Int.random(in: 0..<minutes / length, using: &random) * length
        let value = Double(Int.random(in: 0...length * 20, using: &random))
        let type = ["hae.step_count", "p247.step_count", "healthpush.steps"].randomElement(using: &random) ?? ""
        readings.append((start, length, value))
        batch.append(Self.sample(type, value, at: Int64(start) * 60, for: Int64(length) * 60))
      }
      let home = try TemporaryDirectory(inMemory: true)
      let store = try HealthStore(directory: home.path)
      try await store.apply(ChangeBatch(additions: batch))
      for (size, bucket) in [(BucketSize.day, 1_440), (.hour, 60)] {
        let expected = reference(samples, readings, minutes: minutes, bucket: bucket)
        var found: [Int: Double] = [:]
        for value in try await query(Self.steps, size).run(on: store).values {
          guard case .sum(let sum) = value.number else { continue }
          found[Int(value.bucket.start.seconds - Self.midnight) / 60 / bucket] = sum.sum
        }
        #expect(Set(found.keys) == Set(expected.keys), "seed \(seed), \(size)")
        for (index, sum) in expected {
          #expect(abs((found[index] ?? .nan) - sum) < 1e-6, "seed \(seed), \(size) \(index)")
        }
      }
    }
  }
}
