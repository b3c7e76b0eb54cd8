import Foundation
import HealthModel
import Testing

@Suite("What a sample says of others")
struct SampleRedactionTests {
  private static let systolic = SampleType("HKQuantityTypeIdentifierBloodPressureSystolic")
  private static let diastolic = SampleType("HKQuantityTypeIdentifierBloodPressureDiastolic")
  private static let pressure = SampleType("HKCorrelationTypeIdentifierBloodPressure")
  private static let energy = SampleType("HKQuantityTypeIdentifierActiveEnergyBurned")
  private static let distance = SampleType("HKQuantityTypeIdentifierDistanceWalkingRunning")
  private static let cycling = SampleType("HKQuantityTypeIdentifierDistanceCycling")
  private static let heartRate = SampleType("HKQuantityTypeIdentifierHeartRate")
  private static let noon = Timestamp(seconds: 1_718_452_800)

  private static func sample(_ type: SampleType, metadata: Metadata = [:], _ payload: Payload) -> Sample {
    Sample(
      uuid: UUID(), type: type, start: noon, end: noon, source: Source(name: "Watch"), metadata: metadata,
      payload: payload)
  }

  private static func reference(_ type: SampleType, at second: Int64 = 0) -> SampleReference {
    SampleReference(type: type, start: Timestamp(seconds: noon.seconds + second), uuid: UUID())
  }

  private static var measured: Sample {
    sample(
      pressure, .correlation(Correlation(members: [reference(systolic), reference(diastolic, at: -1)])))
  }

  private static var run: Sample {
    let walked = WorkoutStatistics(type: distance, sum: 5_000, unit: "m")
    let beats = WorkoutStatistics(type: heartRate, average: 150, unit: "count/min")
    return sample(
      .workout,
      metadata: [
        "HKIndoorWorkout": .bool(true),
        "hpeer.attribute.WorkoutStatistics.HKQuantityTypeIdentifierHeartRate.median": "149",
        "hpeer.element.1": "<Zones heartRate=\"130\"/>",
      ],
      .workout(
        Workout(
          activityType: .value(37), duration: 1_800,
          totals: [
            "totalDistance": Quantity(5, "km"), "totalEnergyBurned": Quantity(350, "kcal"),
            "totalOfTheFuture": Quantity(1, "count"),
          ],
          statistics: [walked, beats],
          activities: [WorkoutActivity(uuid: "A", start: noon, statistics: [beats, walked])])))
  }

  private func workout(_ sample: Sample) throws -> Workout {
    guard case .workout(let workout) = sample.payload else { throw NoWorkout() }
    return workout
  }

  private struct NoWorkout: Error {}

  @Test("whoever may see everything sees all of it")
  func everything() {
    let cut = SampleFilter.everything.cut
    for sample in [Self.measured, Self.run] { #expect(cut.applied(to: sample) == sample) }
  }

  @Test("what was kept of unknown words is left out also where their first letter joins with the dot before it")
  func joiningNames() {
    var sample = Self.run
    sample.metadata["hpeer.element.\u{903}1"] = "heartRate 130"
    let shown = SampleFilter(types: [.workout, Self.distance]).cut.applied(to: sample)
    #expect(shown.metadata == ["HKIndoorWorkout": .bool(true)])
  }

  @Test("a correlation names the members that may be seen, by type and by start")
  func members() {
    let sample = Self.measured
    guard case .correlation(let whole) = sample.payload else { return }
    let byType = SampleFilter(types: [Self.pressure, Self.diastolic]).cut.applied(to: sample)
    #expect(byType.payload == .correlation(Correlation(members: [whole.members[1]], isPartial: true)))
    let byStart = SampleFilter(earliest: Self.noon).cut.applied(to: sample)
    #expect(byStart.payload == .correlation(Correlation(members: [whole.members[0]], isPartial: true)))
    let both = SampleFilter(types: [Self.pressure, Self.systolic, Self.diastolic]).cut.applied(to: sample)
    #expect(both == sample)
  }

  @Test("a workout has the sums of what may be seen")
  func sums() throws {
    let sample = SampleFilter(types: [.workout, Self.distance]).cut.applied(to: Self.run)
    let workout = try workout(sample)
    #expect(workout.isPartial)
    #expect(Array(workout.totals.keys) == ["totalDistance"])
    #expect(workout.statistics.map(\.type) == [Self.distance])
    #expect(workout.activities.map { $0.statistics.map(\.type) } == [[Self.distance]])
    #expect(sample.metadata == ["HKIndoorWorkout": .bool(true)])
    #expect((workout.duration, workout.activityType) == (1_800, .value(37)))
  }

  @Test("a distance that may be of a hidden type is hidden")
  func distance() throws {
    var sample = Self.run
    var whole = try workout(sample)
    let cycling = SampleFilter(types: [.workout, Self.cycling]).cut
    #expect(try workout(cycling.applied(to: sample)).totals.isEmpty)
    // An activity of another kind adds to it.
    whole.activities.append(
      WorkoutActivity(
        uuid: "B", start: Self.noon, statistics: [WorkoutStatistics(type: Self.cycling, sum: 1_000, unit: "m")]))
    sample.payload = .workout(whole)
    let walking = SampleFilter(types: [.workout, Self.distance]).cut
    #expect(try workout(walking.applied(to: sample)).totals.isEmpty)
    let both = SampleFilter(types: [.workout, Self.distance, Self.cycling]).cut
    #expect(try workout(both.applied(to: sample)).totals.keys.sorted() == ["totalDistance"])
    // Without statistics nothing tells which it is.
    whole.statistics = []
    sample.payload = .workout(whole)
    #expect(try workout(cycling.applied(to: sample)).totals.isEmpty)
    #expect(try workout(walking.applied(to: sample)).totals.isEmpty)
    #expect(try workout(both.applied(to: sample)).totals.isEmpty)
  }

  @Test("what hides nothing of a sample leaves no mark on it")
  func unmarked() {
    let plain = Self.sample(.workout, .workout(Workout(activityType: .value(37), duration: 60)))
    #expect(SampleFilter(types: [.workout], earliest: Self.noon).cut.applied(to: plain) == plain)
    let beat = Self.sample(Self.heartRate, .quantity(Quantity(60, "count/min")))
    #expect(SampleFilter(types: [], earliest: Timestamp(microseconds: .max)).cut.applied(to: beat) == beat)
  }

  @Test("cutting twice, and first to more, is cutting once")
  func idempotent() {
    let narrow = SampleFilter(types: [.workout, Self.pressure, Self.systolic], earliest: Self.noon).cut
    let wide = SampleFilter(types: [.workout, Self.pressure, Self.systolic, Self.diastolic, Self.energy]).cut
    for sample in [Self.measured, Self.run] {
      let once = narrow.applied(to: sample)
      #expect(narrow.applied(to: once) == once)
      #expect(narrow.applied(to: wide.applied(to: sample)) == once)
    }
  }

  @Test("the mark travels, and counts in what samples are compared by")
  func coding() throws {
    for sample in [Self.measured, Self.run] {
      let cut = SampleFilter(types: [sample.type]).cut.applied(to: sample)
      let coded = try CodedPayload(cut.payload)
      #expect(coded.json?.contains(#""partial":true"#) == true)
      #expect(try Payload(kind: cut.payload.kind, number: nil, unit: nil, json: coded.json) == cut.payload)
      #expect(try CanonicalJSON.encode(cut).contains(#""partial":true"#))
      #expect(try CanonicalJSON.decode(Sample.self, CanonicalJSON.encode(cut)) == cut)
      var unmarked = cut
      switch cut.payload {
      case .correlation(let correlation): unmarked.payload = .correlation(Correlation(members: correlation.members))
      case .workout(var workout):
        workout.isPartial = false
        unmarked.payload = .workout(workout)
      default: break
      }
      #expect(unmarked != cut)
      var hasher = ContentHasher()
      #expect(hasher.hash(unmarked) != hasher.hash(cut))
      #expect(try CodedPayload(unmarked.payload).json?.contains("partial") == false)
    }
  }

  @Test("of copies of one sample the best is the same in whatever order they come")
  func bestCopy() throws {
    for sample in [Self.measured, Self.run] {
      let cuts = [
        SampleFilter.everything.cut, SampleFilter(types: [Self.systolic, Self.distance]).cut,
        SampleFilter(types: [Self.diastolic, Self.heartRate]).cut, SampleFilter(types: []).cut,
      ]
      let copies = cuts.map { $0.applied(to: sample).payload }
      for copy in copies { #expect(try !copy.isBetterCopy(than: copy)) }
      for (index, copy) in copies.enumerated() {
        for other in copies[..<index] where other != copy {
          #expect(try copy.isBetterCopy(than: other) != other.isBetterCopy(than: copy))
        }
      }
      for copy in copies.dropFirst() { #expect(try copies[0].isBetterCopy(than: copy)) }
      for copy in copies.dropLast() { #expect(try copies[3].isBetterCopy(than: copy) == false) }
    }
  }
}
