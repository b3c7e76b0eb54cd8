import Foundation
import HealthAnalysis
import HealthModel
import HealthStore
import TestSupport
import Testing

/// Tests of queries to a real store.
@Suite struct StatisticsQueryTests {
  private static let steps = SampleType("HKQuantityTypeIdentifierStepCount")
  private static let heartRate = SampleType("HKQuantityTypeIdentifierHeartRate")
  private static let distance = SampleType("HKQuantityTypeIdentifierDistanceWalkingRunning")
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

  /// - Parameter start: a time on 2024-06-15 in Berlin.
  private static func sample(
    _ type: SampleType, _ source: Source, _ start: String, _ end: String, _ value: Double, _ unit: String = "count",
    metadata: Metadata = [:], device: Device? = nil
  ) throws -> Sample {
    let instants = try [start, end].map { try #require(Timestamp(iso8601: "2024-06-15T\($0):00+02:00")) }
    return Sample(
      uuid: UUID(), type: type, start: instants[0], end: instants[1], source: source, device: device,
      metadata: metadata,
      payload: .quantity(Quantity(value, unit)))
  }

  private func query(_ type: SampleType, by size: BucketSize = .day) -> StatisticsQuery {
    StatisticsQuery(type, by: size, in: zone, now: Timestamp(seconds: 0))
  }

  private func sums(_ query: StatisticsQuery) async throws -> [MergedSum] {
    try await query.run(on: store).values.compactMap { value in
      if case .sum(let sum) = value.number { sum } else { nil }
    }
  }

  private static let walk = [
    ("08:00", "08:30", 1500.0, watch), ("12:00", "12:20", 1000, watch), ("08:15", "12:10", 4700, phone),
  ]

  /// The vector C3, by way of the store.
  @Test func aWalkThatTwoDevicesRecordedCountsOnce() async throws {
    let samples = try Self.walk.map { try Self.sample(Self.steps, $0.3, $0.0, $0.1, $0.2) }
    try await store.apply(ChangeBatch(additions: samples))
    let day = try await sums(query(Self.steps))
    #expect(day.count == 1 && abs(day[0].sum - 6700) < 1e-9)
    #expect(day[0].sources.map(\.name) == ["Watch", "iPhone"])
    #expect(day[0].sources.map(\.seconds) == [3000, 12_600])
    let hours = try await sums(query(Self.steps, by: .hour))
    #expect(hours.map { $0.sum.rounded() } == [2100, 1200, 1200, 1200, 1000])
  }

  @Test func theSourceThatWasChosenCountsFirst() async throws {
    let samples = try Self.walk.map { try Self.sample(Self.steps, $0.3, $0.0, $0.1, $0.2) }
    try await store.apply(ChangeBatch(additions: samples))
    try await store.settings.setFirstSource("iPhone", of: Self.steps)
    let day = try await sums(query(Self.steps))
    // The watch has 08:00 to 08:15 and 12:10 to 12:20 for itself.
    #expect(day.count == 1 && abs(day[0].sum - (4700 + 750 + 500)) < 1e-9)
    #expect(day[0].sources.map(\.name) == ["iPhone", "Watch"])
    let listed = try await SourceSurvey.sources(of: Self.steps, in: store).map(\.source)
    #expect(listed.map(\.name) == ["iPhone", "Watch"] && listed.map(\.isChosen) == [true, false])
    try await store.settings.setFirstSource(nil, of: Self.steps)
    #expect(try await sums(query(Self.steps)).map { $0.sum.rounded() } == [6700])
  }

  @Test func whatIsTrueOfThePersonWasRecordedByNoSourceAtNoTime() async throws {
    let born = Sample(
      uuid: UUID(), type: SampleType("HKCharacteristicTypeIdentifierDateOfBirth"), start: Timestamp(seconds: 0),
      end: Timestamp(seconds: 0), source: Self.phone, device: nil, metadata: [:],
      payload: .characteristic(CharacteristicValue(value: "1986-05-17")))
    let walked = try Self.sample(Self.steps, Self.phone, "08:00", "08:30", 1500)
    try await store.apply(ChangeBatch(additions: [born, walked]))
    let listed = try await SourceSurvey.sources(of: nil, in: store)
    #expect(try await Rollups(of: store).sources(of: nil) == listed)
    #expect(listed.map(\.samples) == [1])
    #expect(listed.first?.starts == walked.start...walked.start)
  }

  @Test func mmolWithoutItsMolarMassIsOfWhatTheTypeMeasures() async throws {
    let glucose = SampleType("HKQuantityTypeIdentifierBloodGlucose")
    let long = "mmol<180.1558800000541>/L"
    try await store.apply(
      ChangeBatch(additions: [
        try Self.sample(glucose, Self.phone, "08:00", "08:00", 5.5, "mmol/L"),
        try Self.sample(glucose, Self.phone, "09:00", "09:00", 5.5, long),
      ]))
    for answer in [
      try await query(glucose).computed(from: store), try await Rollups(of: store).statistics(query(glucose)),
    ] {
      #expect(answer.withoutUnit == 0)
      guard case .discrete(let values)? = answer.values.first?.number else { throw Absent() }
      #expect(values.count == 2 && abs(values.meanOfSamples - 99.086) < 0.01 && values.maximum - values.minimum < 1e-9)
    }
  }

  private struct Absent: Error {}

  @Test func whatIsLeftOutByAFilterStillRanks() async throws {
    let samples = try Self.walk.map { try Self.sample(Self.steps, $0.3, $0.0, $0.1, $0.2) }
    try await store.apply(ChangeBatch(additions: samples))
    var query = query(Self.steps)
    query.sources = ["iPhone"]
    #expect(try await sums(query).map(\.sum) == [4700])
  }

  @Test func whatWasTypedComesFirst() async throws {
    try await store.apply(
      ChangeBatch(additions: [
        try Self.sample(Self.steps, Self.watch, "10:00", "10:10", 1000),
        try Self.sample(Self.steps, Source(name: "Health"), "10:00", "10:10", 7, metadata: ["HKWasUserEntered": "1"]),
        try Self.sample(
          Self.steps, Source(name: "Health"), "11:00", "11:10", 3, metadata: ["HKWasUserEntered": .bool(true)]),
        try Self.sample(Self.steps, Source(name: "Health"), "12:00", "12:10", 2, metadata: ["HKWasUserEntered": "0"]),
      ]))
    let day = try await sums(query(Self.steps))
    #expect(day.map(\.sum) == [12])
    #expect(day[0].sources.map(\.name) == ["manual", "Health"])
  }

  @Test func valuesAreInTheTypesUnit() async throws {
    try await store.apply(
      ChangeBatch(additions: [
        try Self.sample(Self.distance, Self.watch, "10:00", "10:10", 1.5, "km"),
        try Self.sample(Self.distance, Self.watch, "10:10", "10:20", 250, "m"),
        try Self.sample(Self.distance, Self.watch, "10:30", "10:40", 250, "kcal"),
        try Self.sample(Self.distance, Self.watch, "10:40", "10:50", .nan, "m"),
        try Self.sample(Self.distance, Self.watch, "10:50", "11:00", .infinity, "m"),
      ]))
    let statistics = try await query(Self.distance).run(on: store)
    #expect(statistics.unit == "m")
    #expect((statistics.withoutUnit, statistics.withoutNumber) == (1, 2))
    #expect(try await sums(query(Self.distance)).map(\.sum) == [1750])
  }

  @Test func aRangeCutsAndSaysSo() async throws {
    let samples = try [("10:00", "11:00", 600.0), ("12:00", "12:00", 1)].map {
      try Self.sample(Self.steps, Self.watch, $0.0, $0.1, $0.2)
    }
    try await store.apply(ChangeBatch(additions: samples))
    var query = query(Self.steps)
    query.start = Timestamp(iso8601: "2024-06-15T10:50:00+02:00")
    query.end = Timestamp(iso8601: "2024-06-15T12:00:00+02:00")
    let statistics = try await query.run(on: store)
    #expect(statistics.values.count == 1 && statistics.values[0].isPartial)
    #expect(try await sums(query).map(\.sum) == [100])
    query.now = try #require(Timestamp(iso8601: "2024-06-15T09:00:00+02:00"))
    (query.start, query.end) = (nil, nil)
    #expect(try await query.run(on: store).values.map(\.isPartial) == [true])
    query.now = try #require(Timestamp(iso8601: "2024-06-16T00:00:00+02:00"))
    #expect(try await query.run(on: store).values.map(\.isPartial) == [true], "the record ends in it")
    query.marksRecordEnd = false
    #expect(try await query.run(on: store).values.map(\.isPartial) == [false])
  }

  /// The vector H2: a value before the range extends into the range.
  @Test func aHeartRateLastsIntoTheRange() async throws {
    let samples = try [("09:58", 80.0), ("10:02", 100)].map {
      try Self.sample(Self.heartRate, Self.watch, $0.0, $0.0, $0.1, "count/min")
    }
    try await store.apply(ChangeBatch(additions: samples))
    var query = query(Self.heartRate, by: .hour)
    query.start = Timestamp(iso8601: "2024-06-15T10:00:00+02:00")
    let values = try await query.run(on: store).values
    guard case .discrete(let hour)? = values.first?.number else {
      Issue.record("no number")
      return
    }
    #expect(hour.count == 1 && hour.minimum == 100)
    #expect(abs(try #require(hour.mean) - 660.0 / 7) < 1e-9)
  }

  @Test func anEmptyStoreAndAnEmptyRangeHaveNoNumbers() async throws {
    #expect(try await query(Self.steps).run(on: store).values.isEmpty)
    try await store.apply(ChangeBatch(additions: [try Self.sample(Self.steps, Self.watch, "10:00", "10:10", 5)]))
    var query = query(Self.steps)
    query.start = Timestamp(seconds: 4_000_000_000)
    #expect(try await query.run(on: store).values.isEmpty)
  }

  @Test func whatHasNoNumbersIsRefused() async throws {
    await #expect(throws: StatisticsError.noQuantity(.workout)) { try await query(.workout).run(on: store) }
  }

  @Test func timesBeyondReasonAreRefusedByHoursAndAnsweredByYears() async throws {
    let source = Self.watch
    let samples = [Timestamp(microseconds: .min), Timestamp(seconds: 0), Timestamp(microseconds: .max)].map {
      Sample(
        uuid: UUID(), type: Self.steps, start: $0, end: $0, source: source, payload: .quantity(Quantity(1, "count")))
    }
    try await store.apply(ChangeBatch(additions: samples))
    await #expect(throws: StatisticsError.tooManyBuckets) { try await query(Self.steps, by: .hour).run(on: store) }
    #expect(try await sums(query(Self.steps, by: .year)).map(\.sum) == [1])
  }

  /// Tests both computations, from cells and from samples.
  @Test(arguments: [BucketSize.hour, .day, .year])
  func aTimeThatCannotBeRightIsLeftOutWhereNoneIsNamed(size: BucketSize) async throws {
    let now = try #require(Timestamp(iso8601: "2024-06-20T00:00:00Z"))
    let instants = try ["0001-02-01T00:00:00Z", "2024-06-15T10:00:00Z", "2025-06-22T00:00:00Z", "9999-02-01T00:00:00Z"]
      .map {
        try #require(Timestamp(iso8601: $0))
      }
    try await store.apply(
      ChangeBatch(
        additions: instants.map {
          Sample(
            uuid: UUID(), type: Self.heartRate, start: $0, end: $0, source: Self.watch,
            payload: .quantity(Quantity(60, "count/min")))
        }))
    func found(from start: Timestamp? = nil, to end: Timestamp? = nil) async throws -> [Int] {
      var query = StatisticsQuery(Self.heartRate, by: size, in: zone, now: now)
      (query.start, query.end, query.isPlausibleOnly) = (start, end, true)
      let statistics = try await query.run(on: store)
      let computed = try await query.computed(from: store)
      #expect(statistics.values.map(\.bucket) == computed.values.map(\.bucket))
      #expect(statistics.implausibleTime == computed.implausibleTime)
      return [statistics.values.count, statistics.implausibleTime]
    }
    #expect(try await found() == [1, 3])
    #expect(try await found(from: instants[1]) == [1, 2])
    #expect(try await found(to: now) == [1, 1])
    #expect(try await found(from: instants[3]) == [1, 0])
    #expect(try await found(to: instants[1]) == [0, 1])
    #expect(PlausibleTime.limits(from: instants[0], to: nil, now: now).contains(instants[0]))
  }
}
