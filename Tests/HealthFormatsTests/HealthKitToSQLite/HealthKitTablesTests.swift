import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

/// Tests of content that healthkit-to-sqlite's exports rarely have. EndToEndTests run the program itself.
@Suite struct HealthKitTablesTests {
  private static let start = Timestamp(seconds: 1_718_440_200)

  private func sample(
    _ type: SampleType, _ payload: Payload, seconds: Int64 = 0, source: Source = Source(name: "Watch"),
    created: Timestamp? = nil, metadata: Metadata = [:]
  ) -> Sample {
    Sample(
      uuid: UUID(), type: type, start: Self.start, end: Timestamp(seconds: Self.start.seconds + seconds),
      created: created, source: source, metadata: metadata, payload: payload)
  }

  private func row(_ sample: Sample) throws -> TableRow {
    var tables = HealthKitTables(offset: 7200)
    let row = tables.row(of: sample)
    return try #require(row)
  }

  @Test func aRecordIsARowOfItsTypesTable() throws {
    let row = try self.row(
      sample(
        SampleType("HKQuantityTypeIdentifierHeartRate"), .quantity(Quantity(61.5, "count/min")),
        source: Source(name: "A\u{1}B", version: "10.1"), metadata: ["HKTimeZone": "Europe/Berlin", "b": .bool(true)]))
    #expect(row.table == "rHeartRate")
    #expect(
      row.columns == [
        "sourceName", "sourceVersion", "unit", "startDate", "endDate", "value", "metadata_HKTimeZone", "metadata_b",
      ])
    // As XML has it: without what it cannot say.
    #expect(row["sourceName"] == .text("AB"))
    #expect(row["startDate"] == .text("2024-06-15 10:30:00 +0200"))
    #expect(row["value"] == .text("61.5"))
    #expect(row["metadata_b"] == .text("1"))
    for (type, table) in [
      ("HKCategoryTypeIdentifierSleepAnalysis", "rSleepAnalysis"),
      ("HKDataTypeSleepDurationGoal", "rHKDataTypeSleepDurationGoal"), ("odd", "rodd"),
    ] { #expect(HealthKitTables.table(of: SampleType(type)) == table) }
  }

  /// The identifier equals the result of sqlite_utils.utils.hash_record for the same record.
  @Test func aWorkoutHasTheIdentifierThatSQLiteUtilsGivesIt() throws {
    let events = [
      WorkoutEvent(type: "HKWorkoutEventTypePause", date: Timestamp(seconds: Self.start.seconds + 600)),
      WorkoutEvent(type: "HKWorkoutEventTypeLap", date: Timestamp(seconds: Self.start.seconds + 660), duration: 120),
    ]
    var workout = Workout(activityType: WorkoutActivityType(exported: "HKWorkoutActivityTypeRunning"), duration: 1710)
    workout.events = events
    workout.statistics = [
      WorkoutStatistics(type: SampleType("HKQuantityTypeIdentifierActiveEnergyBurned"), sum: 250.5, unit: "kcal"),
      WorkoutStatistics(type: SampleType("HKQuantityTypeIdentifierDistanceCycling"), sum: 12, unit: "km"),
      WorkoutStatistics(type: SampleType("HKQuantityTypeIdentifierHeartRate"), average: 120, unit: "count/min"),
    ]
    let row = try self.row(
      sample(
        .workout, .workout(workout), seconds: 1800, source: Source(name: "Zoë’s \"Watch\" 🏃\u{7F}"),
        created: Timestamp(seconds: Self.start.seconds + 1805), metadata: ["a\\b": "tab\there"]))
    #expect(row.table == "workouts")
    #expect(row.columns.first == "id")
    #expect(row["id"] == .text("5fb21086ada36abab5577219f1c039b6bd0e2d14"))
    #expect(
      row["workout_events"]
        == .text(
          #"[{"type": "HKWorkoutEventTypePause", "date": "2024-06-15 10:40:00 +0200"}, {"type": "#
            + #""HKWorkoutEventTypeLap", "date": "2024-06-15 10:41:00 +0200", "duration": "2", "durationUnit": "min"}]"#
        ))
    // Not of what the identifier is made of.
    #expect(row["totalEnergyBurned"] == .text("250.5"))
    #expect(row["totalDistance"] == .text("12"))
    #expect(row["totalDistanceUnit"] == .text("km"))
  }

  @Test func pointsAreNumbersWithTheFormOfTheirDates() {
    let tables = HealthKitTables(offset: 7200)
    let points = [
      RoutePoint(time: 2, latitude: 52.5, longitude: 13.25, elevation: 30), RoutePoint(latitude: 1, longitude: 2),
    ]
    for (path, date) in [("/workout-routes/a.gpx", "2024-06-15T08:30:02Z"), (nil, "2024-06-15 10:30:02 +0200")] {
      let route = sample(.workoutRoute, .workoutRoute(WorkoutRoute(path: path, points: points)))
      let rows = tables.points(of: route, workout: "abc")
      #expect(rows.map { $0["date"] } == [.text(date), nil])
      #expect(rows[0]["latitude"] == .number(52.5))
      #expect(rows[0]["altitude"] == .number(30))
      #expect(rows[0]["speed"] == nil)
      #expect(rows[1]["workout_id"] == .text("abc"))
      #expect(rows[0].columns == HealthKitTables.columns(of: "workout_points").map(\.name))
    }
  }

  @Test func whatHasNoTableHasNoRow() throws {
    var tables = HealthKitTables(offset: 0)
    let others = [
      sample(
        SampleType("HKCorrelationTypeIdentifierBloodPressure"),
        .correlation(Correlation(members: [], isPartial: false))),
      sample(SampleType("hae.step_count"), .quantity(Quantity(1, "count"))),
      sample(.workoutRoute, .workoutRoute(WorkoutRoute(points: []))),
    ]
    for other in others {
      let row = tables.row(of: other)
      #expect(row == nil)
    }
    // And what comes after them has its own.
    let steps = sample(SampleType("HKQuantityTypeIdentifierStepCount"), .quantity(Quantity(1, "count")))
    let row = tables.row(of: steps)
    #expect(row?.table == "rStepCount")
  }

  /// The faster way must produce the same as the other.
  @Test func pagesAndSamplesGiveTheSameRows() throws {
    var maker = SampleMaker(seed: 7)
    var coder = ChangeCoder()
    for sample in maker.samples(400) { try coder.add(sample) }
    let changes = coder.changes
    let plain = try PlainTableRows(changes, offset: -12_600)
    let expander = try ChangeExpander(changes)
    var tables = HealthKitTables(offset: -12_600)
    var count = 0
    for coded in changes.samples {
      guard let row = plain.row(of: coded) else { continue }
      count += 1
      let other = tables.row(of: try expander.sample(coded))
      #expect(other == row)
    }
    #expect(count > 10)
  }
}
