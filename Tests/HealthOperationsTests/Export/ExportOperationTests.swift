import Foundation
import HealthFormats
import HealthModel
import HealthOperations
import HealthStore
import Testing
import TestSupport

@Suite struct ExportOperationTests {
  private let home: TestHome
  private let folder: TemporaryDirectory

  init() async throws {
    home = try TestHome()
    folder = try TemporaryDirectory(inMemory: true)
    try await home.fill(20)
  }

  private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path) }

  private func exported() async throws -> [AuditRecord] {
    try await home.audited().filter { $0.event.hasPrefix("export") }
  }

  /// The formats that can hold samples of any type.
  private static let formats = ExportFormat.allCases.filter { $0 != .gpx && $0 != .calendar }
  /// The formats that can also be read back.
  private static let readable = formats.filter { ![.sqlite, .statisticsCSV, .statisticsJSON].contains($0) }

  @Test(arguments: readable)
  func whatIsWrittenCanBeImported(format: ExportFormat) async throws {
    let path = folder.path("health")
    let summary = try await ExportOperation(format, to: .file(path: path, replaces: false)).run(from: home.store)
    #expect(summary.written == 20)
    #expect(summary.isAudited)
    #expect(try names() == ["health"])
    #expect(try folder.mode("health") == 0o600)
    let events = try await exported()
    #expect(events.map(\.event) == ["export.started", "export"])
    #expect(events[0].detail == ["format": format.rawValue, "file": "health"])
    #expect(events[1].detail == ["format": format.rawValue, "file": "health", "count": "20"])
    let other = try TestHome()
    #expect(try await other.importer(path).run(into: other.store).summary.added == 20)
  }

  @Test func whatIsAskedForIsWrittenAndRecorded() async throws {
    let start = AppleExportText.start
    let end = Timestamp(seconds: start.seconds + 300)
    let operation = ExportOperation(
      .csv, to: .file(path: folder.path("five.csv"), replaces: false),
      filter: SampleFilter(types: [AppleExportText.heartRate], earliest: start, end: end))
    #expect(try await operation.run(from: home.store).written == 5)
    #expect(
      try await exported().first?.detail
        == [
          "format": "csv", "file": "five.csv", "types": "heartRate", "from": start.iso8601, "to": end.iso8601,
        ])
  }

  @Test(arguments: [ExportFormat.statisticsCSV, .statisticsJSON])
  func numbersOfADayHaveWhatReachesIntoIt(format: ExportFormat) async throws {
    let midnight = Timestamp(seconds: AppleExportText.start.seconds / 86_400 * 86_400 + 10 * 86_400)
    let steps = Sample(
      uuid: UUID(), type: SampleType("HKQuantityTypeIdentifierStepCount"),
      start: Timestamp(seconds: midnight.seconds - 600),
      end: Timestamp(seconds: midnight.seconds + 600), source: Source(name: "phone"),
      payload: .quantity(Quantity(100, "count")))
    try await home.store.apply(ChangeBatch(additions: [steps]))
    let path = folder.path("day")
    let operation = ExportOperation(
      format, to: .file(path: path, replaces: false),
      filter: SampleFilter(earliest: midnight, end: Timestamp(seconds: midnight.seconds + 86_400)))
    #expect(try await operation.run(from: home.store).rows == 1)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.contains("stepCount") && text.contains("50") && !text.contains("heartRate"))
  }

  /// An app's samples start at any microsecond, and pages may end anywhere among them.
  @Test(.timeLimit(.minutes(5)), arguments: [7, 2_100])
  func samplesOfOneSecondAreWrittenOnceEach(count: Int) async throws {
    let home = try TestHome()
    let samples = (0..<count).map { number in
      Sample(
        uuid: UUID(), type: AppleExportText.heartRate,
        start: Timestamp(microseconds: AppleExportText.start.microseconds + Int64(number) * 400 + 100),
        end: AppleExportText.start, source: Source(name: "phone"), payload: .quantity(Quantity(60, "count/min")))
    }
    try await home.store.apply(ChangeBatch(additions: samples))
    for format in Self.formats {
      let operation = ExportOperation(format, to: .file(path: folder.path("export"), replaces: true))
      #expect(try await operation.run(from: home.store).written == count)
    }
  }

  /// The feed contains hidden and deleted samples, and its import gives the same record.
  @Test func theChangeFeedIsTheWholeRecord() async throws {
    let original = Sample(
      uuid: UUID(), type: AppleExportText.heartRate, start: AppleExportText.start, end: AppleExportText.start,
      source: Source(name: try #require(try await home.store.samples.sourceNames().first)),
      payload: .quantity(Quantity(60, "count/min")))
    let gone = try #require(try await home.store.samples.page(of: AppleExportText.heartRate, limit: 1).first)
    try await home.store.apply(
      ChangeBatch(additions: [original], deletions: [Tombstone(of: gone, deleted: Timestamp(seconds: 1_720_000_000))]))
    let path = folder.path("record.ndjson")
    let summary = try await ExportOperation(.ndjson, to: .file(path: path, replaces: false)).run(from: home.store)
    #expect((summary.written, summary.deletions) == (20, 1))
    let other = try TestHome()
    _ = try await other.importer(path).run(into: other.store)
    #expect(try await other.store.digests.deep().record == home.store.digests.deep().record)
    let (here, there) = (home.store, other.store)
    #expect(try await there.samples.typeCounts() == here.samples.typeCounts())
    #expect(try await exported().last?.detail["count"] == "20")
  }

  /// A less detailed copy with the same identity changes nothing.
  @Test(arguments: [ExportFormat.transferJSON1, .transferJSON2, .transferCSV])
  func whatOneAppGetsAndGivesBackChangesNothing(format: ExportFormat) async throws {
    var maker = SampleMaker(seed: 5)
    let time = Timestamp(microseconds: 1_718_447_400_250_700)
    let members = [("Systolic", 120.0), ("Diastolic", 80)].map { name, value in
      Sample(
        uuid: maker.uuid(), type: SampleType("HKQuantityTypeIdentifierBloodPressure\(name)"), start: time, end: time,
        source: Source(name: "cuff"), device: Device(name: "cuff"), payload: .quantity(Quantity(value, "mmHg")))
    }
    let pressure = Sample(
      uuid: maker.uuid(), type: SampleType("HKCorrelationTypeIdentifierBloodPressure"), start: time, end: time,
      created: time, source: Source(name: "cuff"), device: Device(name: "cuff"),
      payload: .correlation(Correlation(members: members.map(\.reference))))
    let workout = Sample(
      uuid: maker.uuid(), type: .workout, start: time, end: Timestamp(seconds: time.seconds + 1800),
      source: Source(name: "Watch", version: "10.1"), metadata: ["HKIndoorWorkout": "1"],
      payload: .workout(
        Workout(
          activityType: .value(37), duration: 1700, totals: ["totalDistance": Quantity(5, "km")],
          events: [WorkoutEvent(type: "HKWorkoutEventTypePause", date: time)])))
    let additions = members + [pressure, workout] + (0..<10).map { maker.steps(at: $0) }
    // By the road of a file, which says more than the app's.
    var (whole, writer): ([UInt8], SampleJSONWriter) = ([], SampleJSONWriter(exported: time))
    writer.begin(into: &whole)
    for sample in additions { try writer.append(sample, to: &whole) }
    writer.end(into: &whole)
    try Data(whole).write(to: URL(filePath: folder.path("whole.json")))
    #expect(try await home.importer(folder.path("whole.json")).run(into: home.store).summary.added == additions.count)
    let before = try await home.store.samples.typeCounts()
    let path = folder.path("file")
    let summary = try await ExportOperation(format, to: .file(path: path, replaces: false)).run(from: home.store)
    #expect(summary.written == 34)
    #expect(summary.omitted.isEmpty)
    #expect(try await home.importer(path).run(into: home.store).summary.added == 0)
    #expect(try await home.store.samples.typeCounts() == before)
    for sample in additions {
      #expect(try await home.store.samples.sample(sample.reference) == sample, "\(sample.type.shortName)")
    }
    let other = try TestHome()
    #expect(try await other.importer(path).run(into: other.store).summary.added == 34)
    #expect(try await other.importer(path).run(into: other.store).summary.added == 0)
    // What is known better arrives later, and takes its place.
    #expect(try await other.importer(folder.path("whole.json")).run(into: other.store).summary.added == 0)
    #expect(try await other.store.samples.typeCounts() == before)
    for sample in additions {
      #expect(try await other.store.samples.sample(sample.reference) == sample, "\(sample.type.shortName)")
    }
  }

  @Test func routesBecomeTracksWithTheHeartRate() async throws {
    let start = AppleExportText.start
    let workout = Sample(
      uuid: UUID(), type: .workout, start: start, end: Timestamp(seconds: start.seconds + 600),
      source: Source(name: "Watch"), payload: .workout(Workout(activityType: .value(37))))
    let route = Sample(
      uuid: UUID(), type: .workoutRoute, start: start, end: Timestamp(seconds: start.seconds + 600),
      source: Source(name: "Watch"),
      payload: .workoutRoute(
        WorkoutRoute(
          workout: workout.reference,
          points: (0..<10).map { RoutePoint(time: Double($0), latitude: 52, longitude: 13, elevation: 30) })))
    try await home.store.apply(ChangeBatch(additions: [workout, route]))
    for (types, rates) in [(nil, 6), ([.workout], 0), ([.workoutRoute, AppleExportText.heartRate], 6)]
      as [(Set<SampleType>?, Int)]
    {
      let path = folder.path("routes.gpx")
      let operation = ExportOperation(
        .gpx, to: .file(path: path, replaces: true), filter: SampleFilter(types: types))
      let summary = try await operation.run(from: home.store)
      #expect(summary.written == 1)
      #expect(summary.points == 10)
      #expect(summary.omitted.isEmpty)
      let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
      #expect(text.contains("<name>Running</name>"))
      // The first was measured when the route began: it is that of the points within five seconds.
      #expect(text.components(separatedBy: "<gpxtpx:hr>").count - 1 == rates)
    }
    let path = folder.path("workouts.ics")
    let summary = try await ExportOperation(.calendar, to: .file(path: path, replaces: true)).run(from: home.store)
    #expect(summary.written == 1)
    #expect(summary.omitted.isEmpty)
    #expect(try String(contentsOf: URL(filePath: path), encoding: .utf8).contains("UID:\(workout.uuid.uuidString)\r\n"))
  }

  @Test func aDatabaseIsAFileOfItsOwn() async throws {
    let path = folder.path("health.db")
    let operation = ExportOperation(.sqlite, to: .file(path: path, replaces: false))
    #expect(try await operation.run(from: home.store).written == 20)
    #expect(try names() == ["health.db"])
    #expect(try folder.mode("health.db") == 0o600)
    #expect(try Data(contentsOf: URL(filePath: path)).starts(with: Data("SQLite format 3\0".utf8)))
    await #expect(throws: ExportError.needsFile(.sqlite)) {
      try await ExportOperation(.sqlite, to: .stream(BrokenSink())).run(from: home.store)
    }
    #expect(try await exported().map(\.event) == ["export.started", "export"])
  }

  @Test func samplesOfOneSourceAreWritten() async throws {
    let watch = try #require(try await home.store.samples.sourceNames().first)
    let other = Sample(
      uuid: UUID(), type: AppleExportText.heartRate, start: AppleExportText.start, end: AppleExportText.start,
      source: Source(name: "an app, old"), payload: .quantity(Quantity(61.5, "count/min")))
    try await home.store.apply(ChangeBatch(additions: [other]))
    for (source, count) in [(watch, 20), ("an app, old", 1), ("never seen", 0)] {
      let operation = ExportOperation(
        .json, to: .file(path: folder.path("some.json"), replaces: true), filter: SampleFilter(sources: [source]))
      #expect(try await operation.run(from: home.store).written == count)
      #expect(try await exported().last?.detail["sources"] == source)
    }
  }

  @Test func theAuditLogHasItBeforeTheFirstByte() async throws {
    let operation = ExportOperation(.json, to: .stream(BrokenSink()))
    await #expect(throws: BrokenSink.Failure.self) { try await operation.run(from: home.store) }
    let events = try await exported()
    #expect(events.map(\.event) == ["export.started"])
    #expect(events.first?.detail["file"] == "-")
  }

  @Test(arguments: [ExportFormat.json, .sqlite])
  func cancelledItLeavesNothing(format: ExportFormat) async throws {
    // Pages are read one after the other, and this runs in the task between two of them.
    let stages = StageRecorder { withUnsafeCurrentTask { $0?.cancel() } }
    let operation = ExportOperation(
      format, to: .file(path: folder.path("health.json"), replaces: false), progress: stages)
    let task = Task { [home] in try await operation.run(from: home.store) }
    await #expect(throws: (any Error).self) { try await task.value }
    #expect(try names().isEmpty)
    #expect(try await exported().map(\.event) == ["export.started"])
    #expect(stages.finished == 1)
  }

  @Test func aFileThatIsThereIsReplacedOnlyIfThatWasSaid() async throws {
    let path = folder.path("health.json")
    try Data("mine".utf8).write(to: URL(filePath: path))
    await #expect(throws: ExportError.alreadyThere(path: path)) {
      try await ExportOperation(.json, to: .file(path: path, replaces: false)).run(from: home.store)
    }
    #expect(try String(contentsOf: URL(filePath: path), encoding: .utf8) == "mine")
    #expect(try await exported().isEmpty)
    _ = try await ExportOperation(.json, to: .file(path: path, replaces: true)).run(from: home.store)
    #expect(try String(contentsOf: URL(filePath: path), encoding: .utf8) != "mine")
    #expect(try names() == ["health.json"])
  }

  @Test func aFolderIsNoFile() async throws {
    await #expect(throws: ExportError.isFolder(path: folder.path)) {
      try await ExportOperation(.csv, to: .file(path: folder.path, replaces: true)).run(from: home.store)
    }
  }
}

/// A sink that fails every write.
private struct BrokenSink: ExportSink {
  struct Failure: Error {}

  func write(_ bytes: [UInt8]) throws { throw Failure() }
  func finish() {}
  func discard() {}
}
