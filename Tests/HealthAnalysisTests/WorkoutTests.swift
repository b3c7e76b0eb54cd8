import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import HealthAnalysis

/// Tests with the vectors W1 and W2, and of routes.
@Suite struct WorkoutTests {
  @Test func W1() {
    let zones = HeartRateZones(edges: [140, 110, 160, 125])
    let samples = [(0, 100.0), (60, 130), (120, 150), (600, 120)].map { second, rate in
      (start: Int64(second) * 1_000_000, end: Int64(second) * 1_000_000, value: rate)
    }
    #expect(zones.durations(samples, in: ActiveIntervals(0..<900_000_000)) == [60, 300, 60, 300, 0])
    #expect(zones.durations(samples, in: ActiveIntervals(30_000_000..<90_000_000)) == [30, 0, 30, 0, 0])
    #expect(zones.durations([], in: ActiveIntervals(0..<1)) == [0, 0, 0, 0, 0])
  }

  @Test func W2() {
    let one = RoutePoint(latitude: 52.50, longitude: 13.40)
    let other = RoutePoint(latitude: 52.51, longitude: 13.40)
    #expect(abs(RouteTrack.distance(from: one, to: other) - 1111.951) < 5e-4)
    let east = RoutePoint(latitude: 0, longitude: 179.999)
    let west = RoutePoint(latitude: 0, longitude: -179.999)
    #expect(abs(RouteTrack.distance(from: east, to: west) - 222.390) < 5e-4)
  }

  /// Returns a point for every ten metres at a constant speed.
  private static func run(metres: Int, speed: Double) -> [RoutePoint] {
    let degree = 111_195.0797
    return (0...metres / 10).map { index in
      RoutePoint(time: Double(index * 10) / speed, latitude: Double(index * 10) / degree, longitude: 0, elevation: 10)
    }
  }

  @Test func splitsLieBetweenPoints() {
    let track = RouteTrack(Self.run(metres: 2_500, speed: 4))
    let splits = track.splits(every: 1000)
    #expect(splits.count == 2)
    #expect(splits.allSatisfy { abs($0 - 250) < 0.01 })
    #expect(track.splits(every: 300).count == 8)
    // One long step has several.
    let jump = [
      RoutePoint(time: 0, latitude: 0, longitude: 0), RoutePoint(time: 600, latitude: 0.027, longitude: 0),
    ]
    #expect(RouteTrack(jump).splits(every: 1000).count == 3)
  }

  @Test("points that jump around the earth, or whose times are no numbers, cost no more than others")
  func hostileRoutes() {
    let jumps = (0..<1_000).map { RoutePoint(time: Double($0), latitude: 0, longitude: $0 % 2 == 0 ? 0 : 179) }
    #expect(RouteTrack(jumps).splits(every: 1000).count == RouteTrack.mostSplits)
    for time in [Double.nan, .infinity, -.infinity] {
      var points = Self.run(metres: 3_000, speed: 4)
      points[150].time = time
      let splits = RouteTrack(points).splits(every: 1000)
      #expect(splits.count == 1 && splits.allSatisfy(\.isFinite))
    }
  }

  @Test func whatIsNotKnownWellIsLeftOut() {
    var points = Self.run(metres: 1_000, speed: 4)
    let length = RouteTrack(points).distance
    for accuracy in [-1.0, 51, .nan] {
      points.insert(RoutePoint(latitude: 1, longitude: 1, horizontalAccuracy: accuracy), at: 50)
    }
    for place in [(91.0, 0.0), (0, 181), (.nan, 0), (0, .infinity)] {
      points.insert(RoutePoint(latitude: place.0, longitude: place.1), at: 20)
    }
    #expect(RouteTrack(points).distance == length)
    #expect(RouteTrack([]).distance == 0 && RouteTrack([]).ascent == nil && RouteTrack([]).splits(every: 1).isEmpty)
  }

  @Test func ascentCountsRisesAndNoNoise() throws {
    func ascent(_ elevations: [Double]) -> Double? {
      RouteTrack(elevations.map { RoutePoint(latitude: 0, longitude: 0, elevation: $0) }).ascent
    }
    let flat = (0..<100).map { Double($0 % 2) }
    #expect(ascent(flat) == 0)
    // One point far off is a mistake.
    let level = [Double](repeating: 10, count: 10)
    #expect(ascent(level + [90] + level) == 0)
    let up = (0...50).map { Double($0) * 3 }
    let climbed = try #require(ascent(up + up.reversed()))
    #expect((141...153).contains(climbed))
  }
}

/// Tests of workout summaries, including implausible workouts.
@Suite struct WorkoutSummaryTests {
  private static func at(_ minutes: Double) -> Timestamp { Timestamp(seconds: 1_718_445_600 + Int64(minutes * 60)) }

  /// Returns a workout of an hour.
  private static func workout(
    _ activity: UInt = 37, duration: Double? = nil, events: [(String, Double)] = [],
    statistics: [WorkoutStatistics] = []
  ) -> Sample {
    Sample(
      uuid: UUID(), type: .workout, start: at(0), end: at(60), source: Source(name: "Watch"),
      payload: .workout(
        Workout(
          activityType: .value(activity), duration: duration, statistics: statistics,
          events: events.map { WorkoutEvent(type: "HKWorkoutEventType\($0.0)", date: at($0.1)) })))
  }

  private static let pauses: [([(String, Double)], [Range<Double>])] = [
    ([], [0..<60]), ([("Pause", 20), ("Resume", 35)], [0..<20, 35..<60]), ([("Pause", 50)], [0..<50]),
    ([("Resume", 10)], [0..<60]), ([("Pause", -5), ("Resume", 5), ("Lap", 30), ("Pause", 70)], [5..<60]),
    // Stopped, and the button pressed as well.
    (
      [("MotionPaused", 10), ("Pause", 12), ("MotionResumed", 14), ("Resume", 20), ("Pause", 20), ("Resume", 20)],
      [0..<10, 20..<60]
    ),
    ([("Resume", 35), ("Pause", 20)], [0..<20, 35..<60]), ([("Pause", 0)], []),
  ]

  @Test("what lies between a pause and its end is not of a workout", arguments: pauses.indices)
  func active(index: Int) throws {
    let (events, expected) = Self.pauses[index]
    let sample = Self.workout(events: events)
    let summary = try #require(WorkoutSummary(sample))
    let minutes = ActiveIntervals(summary.workout, of: sample).intervals.map {
      Double($0.lowerBound - Self.at(0).microseconds) / 60e6..<Double($0.upperBound - Self.at(0).microseconds) / 60e6
    }
    #expect(minutes == expected)
    #expect(summary.duration == expected.reduce(0) { $0 + ($1.upperBound - $1.lowerBound) } * 60)
  }

  @Test func whatADurationCannotBeIsNone() {
    for (said, expected) in [(2_700, 2_700), (-750, nil), (.nan, nil), (3_650, 3_650), (7_200, nil)]
      as [(Double, Double?)]
    {
      #expect(WorkoutSummary(Self.workout(duration: said))?.duration == expected)
    }
  }

  @Test func theWayOfARideIsThatOfItsActivity() {
    func distance(_ kind: String, _ kilometres: Double) -> WorkoutStatistics {
      WorkoutStatistics(type: SampleType("HKQuantityTypeIdentifierDistance\(kind)"), sum: kilometres, unit: "km")
    }
    let ways = [distance("Cycling", 20), distance("WalkingRunning", 0.4)]
    #expect(WorkoutSummary(Self.workout(13, statistics: ways))?.distance == 20_000)
    // A triathlon has no way of its own.
    let legs = [distance("Swimming", 1.5), distance("Cycling", 40)]
    #expect(WorkoutSummary(Self.workout(82, statistics: legs))?.distance == 41_500)
    #expect(WorkoutSummary(Self.workout(13, statistics: [distance("Cycling", -3)]))?.distance == nil)
  }

  /// Returns a swim of 20 minutes, a ride of 38 and a run of 28, two minutes apart, as in an export of iOS 27.
  private static func triathlon() -> Sample {
    func leg(_ way: String, _ start: Double, _ end: Double, _ sum: Double, _ unit: String) -> WorkoutActivity {
      WorkoutActivity(
        uuid: "\(way)", start: at(start), end: at(end), duration: (end - start) * 60,
        statistics: [
          WorkoutStatistics(type: SampleType("HKQuantityTypeIdentifierDistance\(way)"), sum: sum, unit: unit)
        ])
    }
    var sample = workout(82)
    sample.end = at(90)
    guard case .workout(var workout) = sample.payload else { return sample }
    workout.activities = [
      leg("Cycling", 22, 60, 20, "km"), leg("Swimming", 0, 20, 750, "m"), leg("WalkingRunning", 62, 90, 5, "km"),
    ]
    sample.payload = .workout(workout)
    return sample
  }

  @Test("the legs of a triathlon are shown, and their ways are the workout's")
  func legs() async throws {
    let directory = try TemporaryDirectory()
    let store = try HealthStore(directory: directory.path)
    let sample = Self.triathlon()
    func quantity(_ type: String, _ start: Double, _ end: Double, _ value: Double, _ unit: String) -> Sample {
      Sample(
        uuid: UUID(), type: SampleType("HKQuantityTypeIdentifier\(type)"), start: Self.at(start), end: Self.at(end),
        source: sample.source, payload: .quantity(Quantity(value, unit)))
    }
    try await store.apply(
      ChangeBatch(additions: [
        sample, quantity("HeartRate", 10, 10, 120, "count/min"), quantity("HeartRate", 70, 70, 160, "count/min"),
        quantity("ActiveEnergyBurned", 22, 60, 500, "kcal"), quantity("CyclingPower", 30, 31, 200, "W"),
        quantity("EstimatedWorkoutEffortScore", 0, 90, 6, "appleEffortScore"),
        quantity("WorkoutEffortScore", 0, 90, 7, "appleEffortScore"),
      ]))
    let summary = try #require(try await WorkoutQuery().run(on: store).first)
    #expect(summary.distance == 25_750 && !summary.hasMergedDistance)
    let details = try await WorkoutQuery.details(of: summary, zones: nil, in: store)
    #expect(details.legs.map(\.activity.displayName) == ["Swimming", "Cycling", "Running"])
    #expect(details.legs.map(\.distance) == [750, 20_000, 5_000])
    #expect(details.legs.map(\.duration) == [1_200, 2_280, 1_680])
    #expect(details.legs.map(\.rest) == [120, 120, nil])
    #expect(details.legs.map(\.heartRate?.mean) == [120, nil, 160])
    #expect(details.legs.map(\.energy) == [nil, 500, nil])
    #expect(details.measures.map(\.type.shortName) == ["cyclingPower"] && details.measures.first?.mean == 200)
    #expect(details.effort == WorkoutEffort(score: 7, isEstimated: false))
  }

  @Test("legs of times that cannot be are no reason to end")
  func impossibleLegs() throws {
    var sample = Self.triathlon()
    guard case .workout(var workout) = sample.payload else { return }
    workout.activities[0].duration = nil
    workout.activities[0].start = Timestamp(microseconds: .min)
    workout.activities[0].end = Timestamp(microseconds: .max)
    workout.activities[1].end = Timestamp(microseconds: .min)
    sample.payload = .workout(workout)
    #expect(WorkoutSummary(sample)?.distance == 25_750)
  }

  @Test("a part of the legs is no total")
  func partOfLegs() throws {
    var sample = Self.triathlon()
    guard case .workout(var workout) = sample.payload else { return }
    workout.activities[0].statistics.append(
      WorkoutStatistics(type: SampleType("HKQuantityTypeIdentifierActiveEnergyBurned"), sum: 500, unit: "kcal"))
    sample.payload = .workout(workout)
    #expect(WorkoutSummary(sample)?.energy == nil)
  }

  @Test("a workout of one leg is that leg")
  func oneLeg() async throws {
    let directory = try TemporaryDirectory()
    let store = try HealthStore(directory: directory.path)
    var sample = Self.triathlon()
    guard case .workout(var workout) = sample.payload else { return }
    workout.activities.removeLast(2)
    sample.payload = .workout(workout)
    let summary = try #require(WorkoutSummary(sample))
    #expect(summary.distance == 20_000)
    #expect(try await WorkoutQuery.details(of: summary, zones: nil, in: store).legs.isEmpty)
  }

  @Test func aPauseCountsForNothing() async throws {
    let directory = try TemporaryDirectory()
    let store = try HealthStore(directory: directory.path)
    let sample = Self.workout(duration: 2_100, events: [("Pause", 20), ("Resume", 45)])
    let rates = (0..<720).map { index in
      let minute = Double(index) / 12
      return Sample(
        uuid: UUID(), type: SampleType("HKQuantityTypeIdentifierHeartRate"), start: Self.at(minute),
        end: Self.at(minute), source: sample.source,
        payload: .quantity(Quantity((20..<45).contains(minute) ? 95 : 150, "count/min")))
    }
    let energy = Sample(
      uuid: UUID(), type: SampleType("HKQuantityTypeIdentifierActiveEnergyBurned"), start: Self.at(0),
      end: Self.at(60), source: sample.source, payload: .quantity(Quantity(600, "kcal")))
    try await store.apply(ChangeBatch(additions: [sample, energy] + rates))
    let summary = try #require(try await WorkoutQuery().run(on: store).first)
    #expect(summary.hasMergedEnergy && abs((summary.energy ?? 0) - 350) < 1e-6)
    let details = try await WorkoutQuery.details(of: summary, zones: HeartRateZones(edges: [100, 140]), in: store)
    #expect(details.zones == [0, 0, 2_100])
    #expect(details.heartRate == WorkoutHeartRate(mean: 150, minimum: 150, maximum: 150))
  }

  @Test func theHeartRateIsWhatTheWorkoutSays() async throws {
    let directory = try TemporaryDirectory()
    let store = try HealthStore(directory: directory.path)
    let own = WorkoutStatistics(
      type: SampleType("HKQuantityTypeIdentifierHeartRate"), average: 150, maximum: 180, unit: "count/min")
    try await store.apply(ChangeBatch(additions: [Self.workout(statistics: [own])]))
    let summary = try #require(try await WorkoutQuery().run(on: store).first)
    let details = try await WorkoutQuery.details(of: summary, zones: HeartRateZones(edges: [100]), in: store)
    #expect(details.heartRate == WorkoutHeartRate(mean: 150, maximum: 180))
    #expect(details.zones == [])
  }

  @Test func whatOneAppSavesTwiceIsCountedOnce() async throws {
    let directory = try TemporaryDirectory()
    let store = try HealthStore(directory: directory.path)
    try await store.apply(ChangeBatch(additions: [Self.workout(52), Self.workout(52)]))
    #expect(try await WorkoutQuery().run(on: store).map(\.isCounted) == [true, false])
  }

  @Test("parts that an app saves beside the whole, in any order, leave no time out", arguments: 0..<6)
  func parts(round: Int) async throws {
    let directory = try TemporaryDirectory()
    let store = try HealthStore(directory: directory.path)
    let parts = [(0.0, 20.0), (20, 40), (40, 60), (0, 60)].map { from, to in
      var sample = Self.workout(52)
      (sample.start, sample.end) = (Self.at(from), Self.at(to))
      return sample
    }
    try await store.apply(ChangeBatch(additions: parts))
    let counted = try await WorkoutQuery().run(on: store).filter(\.isCounted)
    #expect(counted.reduce(0) { $0 + $1.elapsed } >= 3_600)
  }

  @Test func aWorkoutWithoutAnEndInThisAgeIsNoTrap() {
    var sample = Self.workout()
    (sample.start, sample.end) = (Timestamp(microseconds: .min + 1), Timestamp(microseconds: .max))
    #expect(WorkoutSummary(sample)?.duration == nil)
  }
}

/// Tests of workout queries to a real store.
@Suite struct WorkoutQueryTests {
  private static let watch = Source(name: "Watch", bundleIdentifier: "com.apple.health.W")
  private static let app = Source(name: "Runner", bundleIdentifier: "com.example.runner")
  private static let start = Timestamp(seconds: 1_718_445_600)

  private static func at(_ seconds: Int64) -> Timestamp { Timestamp(seconds: start.seconds + seconds) }

  private static func workout(
    _ source: Source, _ from: Int64, _ to: Int64, _ activity: UInt = 37, statistics: [WorkoutStatistics] = [],
    totals: [String: Quantity] = [:]
  ) -> Sample {
    Sample(
      uuid: UUID(), type: .workout, start: at(from), end: at(to), source: source,
      payload: .workout(
        Workout(activityType: .value(activity), duration: Double(to - from), totals: totals, statistics: statistics)))
  }

  @Test func whatTwoSourcesRecordedIsListedTwiceAndCountedOnce() async throws {
    let directory = try TemporaryDirectory()
    let store = try HealthStore(directory: directory.path)
    let distance = WorkoutStatistics(
      type: SampleType("HKQuantityTypeIdentifierDistanceWalkingRunning"), sum: 5.5, unit: "km")
    try await store.apply(
      ChangeBatch(additions: [
        Self.workout(
          Self.app, 0, 1000, totals: ["totalDistance": Quantity(5, "km"), "totalEnergyBurned": Quantity(418.4, "kJ")]),
        Self.workout(Self.watch, 10, 1100, statistics: [distance]),
        Self.workout(Self.app, 10, 1100, 13), Self.workout(Self.app, 900, 3000), Self.workout(Self.app, 5000, 6000),
      ]))
    let workouts = try await WorkoutQuery().run(on: store)
    #expect(workouts.map { $0.sample.start.seconds - Self.start.seconds }.sorted() == [0, 10, 10, 900, 5000])
    let uncounted = workouts.filter { !$0.isCounted }
    #expect(uncounted.map(\.sample.source) == [Self.app] && uncounted[0].sample.start == Self.start)
    #expect(uncounted[0].distance == 5000 && abs((uncounted[0].energy ?? 0) - 100) < 1e-9)
    #expect(workouts.first { $0.sample.source == Self.watch }?.distance == 5500)
    var query = WorkoutQuery()
    query.range = Self.at(4000)..<Self.at(9000)
    #expect(try await query.run(on: store).count == 1)
  }

  @Test func aWorkoutHasTheHeartRatesAndTheRouteOfItsTime() async throws {
    let directory = try TemporaryDirectory()
    let store = try HealthStore(directory: directory.path)
    let workout = Self.workout(Self.watch, 0, 900)
    let rates = [(0, 100.0), (60, 130), (120, 150), (600, 120), (901, 60)].map { second, rate in
      Sample(
        uuid: UUID(), type: SampleType("HKQuantityTypeIdentifierHeartRate"), start: Self.at(Int64(second)),
        end: Self.at(Int64(second)), source: Self.watch, payload: .quantity(Quantity(rate, "count/min")))
    }
    let points = [
      RoutePoint(time: 0, latitude: 52.50, longitude: 13.40, elevation: 30),
      RoutePoint(time: 300, latitude: 52.51, longitude: 13.40, elevation: 40),
    ]
    let route = Sample(
      uuid: UUID(), type: .workoutRoute, start: Self.at(5), end: Self.at(305), source: Self.watch,
      payload: .workoutRoute(WorkoutRoute(workout: workout.reference, points: points)))
    try await store.apply(ChangeBatch(additions: [workout, route] + rates))
    let summary = try #require(try await WorkoutQuery().run(on: store).first)
    let details = try await WorkoutQuery.details(
      of: summary, zones: HeartRateZones(edges: [110, 125, 140, 160]), in: store)
    #expect(details.zones == [60, 300, 60, 300, 0])
    #expect(details.heartRate?.minimum == 100 && details.heartRate?.maximum == 150)
    #expect(abs((details.routeDistance ?? 0) - 1111.951) < 5e-4)
    #expect(details.splits.count == 1 && abs((details.splits.first ?? 0) - 300 * 1000 / 1111.951) < 0.01)
  }

  private static func quantity(
    _ name: String, _ source: Source, _ from: Int64, _ to: Int64, _ value: Double, _ unit: String
  ) -> Sample {
    Sample(
      uuid: UUID(), type: SampleType("HKQuantityTypeIdentifier" + name), start: at(from), end: at(to), source: source,
      payload: .quantity(Quantity(value, unit)))
  }

  @Test func whatAWorkoutDoesNotSayItsSamplesDo() async throws {
    let directory = try TemporaryDirectory()
    let store = try HealthStore(directory: directory.path)
    try await store.apply(
      ChangeBatch(additions: [
        // The app's own come first in its workout, although the watch ranks higher.
        Self.workout(Self.app, 0, 1000), Self.workout(Self.watch, 5000, 6000),
        Self.workout(Self.watch, 8000, 9000, 57), Self.workout(Self.app, 20_000, 21_000, 13),
        Self.quantity("DistanceWalkingRunning", Self.watch, -500, 500, 2, "km"),
        Self.quantity("DistanceWalkingRunning", Self.app, 200, 800, 3000, "m"),
        Self.quantity("DistanceWalkingRunning", Self.watch, 8000, 9000, 5, "m"),
        Self.quantity("ActiveEnergyBurned", Self.watch, 900, 1100, 836.8, "kJ"),
      ]))
    let workouts = try await WorkoutQuery().run(on: store)
    // 200 s of the watch at 2 m/s and the 3,000 m of the app; nothing but what is there.
    #expect(workouts.map(\.distance) == [3400, nil, nil, nil])
    #expect(workouts.map { $0.energy?.rounded() } == [100, nil, nil, nil])
    #expect(workouts.map(\.hasMergedDistance) == [true, false, false, false])
    var bare = WorkoutQuery()
    bare.readsSamples = false
    let unread = try await bare.run(on: store)
    #expect(unread.allSatisfy { $0.distance == nil && $0.energy == nil && !$0.hasMergedDistance })
    #expect(try await WorkoutQuery.filled(unread[0], in: store) == workouts[0])
    // The workout's own word holds.
    let said = Self.workout(Self.app, 100, 900, 37, totals: ["totalDistance": Quantity(1, "km")])
    try await store.apply(ChangeBatch(additions: [said]))
    let again = try await WorkoutQuery().run(on: store).first { $0.sample.uuid == said.uuid }
    #expect(again?.distance == 1000 && again?.hasMergedDistance == false && again?.energy == nil)
  }

  /// The sums are compared with sums computed second by second.
  @Test func sumsOfWorkoutsAreThoseOfTheirSeconds() async throws {
    var random = SeededGenerator(seed: 6)
    for _ in 0..<15 {
      let directory = try TemporaryDirectory()
      let store = try HealthStore(directory: directory.path)
      let workouts = (0..<8).map { _ -> Sample in
        let from = Int64.random(in: 0...500, using: &random)
        return Self.workout(
          [Self.watch, Self.app].randomElement(using: &random) ?? Self.app, from,
          from + .random(in: 1...200, using: &random))
      }
      let samples = (0..<30).map { index -> Sample in
        let from = Int64.random(in: -50...600, using: &random)
        return Self.quantity(
          "DistanceWalkingRunning", [Self.watch, Self.app].randomElement(using: &random) ?? Self.app, from,
          from + .random(in: 1...150, using: &random), Double(index + 1), "m")
      }
      try await store.apply(ChangeBatch(additions: workouts + samples))
      for workout in try await WorkoutQuery().run(on: store) {
        let order = workout.sample.source == Self.watch ? [Self.watch, Self.app] : [Self.app, Self.watch]
        var sum = 0.0
        var isTouched = false
        for second in workout.sample.start.seconds..<workout.sample.end.seconds {
          let active = samples.filter { $0.start.seconds <= second && second < $0.end.seconds }
          isTouched = isTouched || !active.isEmpty
          for source in order {
            let own = active.filter { $0.source == source }
            for sample in own {
              guard case .quantity(let quantity) = sample.payload else { continue }
              sum += quantity.value / Double(sample.end.seconds - sample.start.seconds)
            }
            if !own.isEmpty { break }
          }
        }
        #expect(isTouched == (workout.distance != nil))
        #expect(abs((workout.distance ?? 0) - sum) < 1e-6)
      }
    }
  }

  /// Tests that skipped workouts don't shift the next page. There are more of them than fit on a page.
  @Test(.timeLimit(.minutes(5))) func whatNobodyKnowsAsAWorkoutIsPassedOver() async throws {
    let directory = try TemporaryDirectory()
    let store = try HealthStore(directory: directory.path)
    let unknown = (0..<700).map { number in
      Sample(
        uuid: UUID(), type: .workout, start: Self.at(Int64(number) * 10), end: Self.at(Int64(number) * 10),
        source: Self.app,
        payload: .category(CategoryValue(value: 1)))
    }
    let workouts = (0..<700).map { Self.workout(Self.watch, Int64($0) * 10 + 5, Int64($0) * 10 + 6) }
    try await store.apply(ChangeBatch(additions: unknown + workouts))
    let found = try await WorkoutQuery().run(on: store)
    #expect(found.map(\.sample.uuid) == workouts.map(\.uuid))
  }

  @Test(arguments: [-400_000, Int64.min / 2_000_000]) func aWorkoutThatEndsBeforeItBeginsHasNoDetails(end: Int64)
    async throws
  {
    let directory = try TemporaryDirectory()
    let store = try HealthStore(directory: directory.path)
    try await store.apply(ChangeBatch(additions: [Self.workout(Self.watch, 0, end)]))
    let summary = try #require(try await WorkoutQuery().run(on: store).first)
    let details = try await WorkoutQuery.details(of: summary, zones: HeartRateZones(age: 40), in: store)
    #expect(details.heartRate == nil && details.routeDistance == nil && details.splits.isEmpty)
  }
}
