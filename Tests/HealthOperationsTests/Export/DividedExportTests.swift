import Foundation
import HealthFormats
import HealthModel
import HealthOperations
import HealthStore
import TestSupport
import Testing

/// Tests of exports to several files, and of compressed exports.
@Suite struct DividedExportTests {
  private let home: TestHome
  private let folder: TemporaryDirectory

  init() throws {
    home = try TestHome()
    folder = try TemporaryDirectory(inMemory: true)
  }

  private func names(_ path: String = "out") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path(path)).sorted()
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOf: URL(filePath: folder.path(name)), encoding: .utf8)
  }

  private func export(
    _ format: ExportFormat, _ split: ExportSplit, replaces: Bool = false, filter: SampleFilter = .everything,
    compression: FileCompression? = nil
  ) async throws -> ExportSummary {
    try await ExportOperation(
      format, to: .folder(path: folder.path("out"), split: split, replaces: replaces), filter: filter,
      compression: compression
    ).run(from: home.store)
  }

  /// Imports all files into an empty store.
  private func taken(_ names: [String]) async throws -> TestHome {
    let other = try TestHome()
    for name in names { _ = try await other.importer(folder.path("out/\(name)")).run(into: other.store) }
    return other
  }

  private static let zone = TimeZone(identifier: "America/New_York") ?? .gmt

  private static func steps(_ time: String, type: String = "HKQuantityTypeIdentifierStepCount") throws -> Sample {
    let start = try #require(Timestamp(iso8601: time))
    return Sample(
      uuid: UUID(), type: SampleType(type), start: start, end: start, source: Source(name: "phone"),
      payload: .quantity(Quantity(7, "count")))
  }

  // MARK: Types

  @Test(arguments: [ExportFormat.json, .csv, .ndjson], [nil, FileCompression.gzip, .zstandard])
  func aFileForEachType(format: ExportFormat, compression: FileCompression?) async throws {
    var maker = SampleMaker(seed: 33)
    let samples = SampleMaker.edgeCases + maker.samples(300)
    try await home.store.apply(ChangeBatch(additions: samples))
    let gone = try Self.steps("2024-06-15T10:00:00Z", type: "gone")
    try await home.store.apply(ChangeBatch(deletions: [Tombstone(of: gone, deleted: .now)]))
    let summary = try await export(format, .type, compression: compression)
    let names = try names()
    let types = try await home.store.samples.typeCounts().map(\.type)
    #expect(names.count == types.count + (format == .ndjson ? 1 : 0))
    #expect(summary.files == names.count)
    #expect(summary.deletions == (format == .ndjson ? 1 : 0))
    let suffix = format.rawValue + (compression.map { ".\($0.rawValue)" } ?? "")
    #expect(names.contains("stepCount.\(suffix)"))
    for name in names {
      #expect(name.hasSuffix(".\(suffix)"))
      #expect(name.wholeMatch(of: /[A-Za-z0-9_][A-Za-z0-9_.-]*/) != nil, "\(name)")
      #expect(try folder.mode("out/\(name)") == 0o600)
    }
    #expect(try folder.mode("out") == 0o700)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["out"])
    let (here, there) = (try await home.store.digests.deep().record, try await taken(names).store.digests.deep().record)
    #expect(there.samples == here.samples)
    let events = try await home.audited()
    #expect(events.last?.detail["split"] == "type")
    #expect(events.last?.detail["count"] == String(summary.written))
  }

  @Test func namesAreSafeAndTellTypesApart() async throws {
    let types = [
      "../../etc/passwd", "a/b", "a-b", ".hidden", "stepcount", "", "-rf", "ä", String(repeating: "x", count: 4000),
    ]
    try await home.store.apply(
      ChangeBatch(
        additions: try types.map { try Self.steps("2024-06-15T10:00:00Z", type: $0) }
          + [Self.steps("2024-06-15T10:00:00Z")]))
    let summary = try await export(.csv, .type)
    #expect(summary.files == types.count + 1)
    let names = try names()
    #expect(names.contains("stepCount.csv"))
    #expect(names.contains("a-b.csv"))
    #expect(names.allSatisfy { $0.utf8.count < 130 && $0.first != "." && $0.first != "-" })
    #expect(try await taken(names).store.samples.typeCounts().count == types.count + 1)
    // The same again.
    _ = try await export(.csv, .type, replaces: true)
    #expect(try self.names() == names)
  }

  // MARK: Months

  @Test(arguments: [ExportFormat.json, .ndjson])
  func monthsAreThoseOfTheZone(format: ExportFormat) async throws {
    let times = [
      "2024-06-01T03:59:59Z", "2024-06-01T04:00:00Z", "2024-06-30T23:00:00Z", "2024-12-31T23:59:59-05:00",
      "2025-01-01T00:00:00-05:00", "1901-03-01T00:00:00Z",
    ]
    try await home.store.apply(ChangeBatch(additions: try times.map { try Self.steps($0) }))
    let summary = try await export(format, .month(Self.zone))
    #expect(summary.written == times.count)
    let suffix = format.rawValue
    #expect(
      try names() == ["1901-02", "2024-05", "2024-06", "2024-12", "2025-01"].map { "\($0).\(suffix)" })
    #expect(try text("out/2024-06.\(suffix)").components(separatedBy: #""uuid""#).count - 1 == 2)
    let other = try await taken(try names())
    #expect(try await other.store.digests.deep().record == home.store.digests.deep().record)
  }

  @Test func monthsAtTheEndsOfTime() async throws {
    let samples = [Int64.min, .min + 1, 0, .max - 1, .max].map { microseconds in
      let start = Timestamp(microseconds: microseconds)
      return Sample(
        uuid: UUID(), type: SampleType("HKQuantityTypeIdentifierStepCount"), start: start, end: start,
        source: Source(name: "phone"), payload: .quantity(Quantity(7, "count")))
    }
    try await home.store.apply(ChangeBatch(additions: samples))
    for zone in [Self.zone, .gmt, TimeZone(secondsFromGMT: 14 * 3600) ?? .gmt] {
      let summary = try await export(.json, .month(zone), replaces: true)
      // The last instant of all is in no range.
      #expect(summary.written >= samples.count - 1)
    }
  }

  @Test func whatIsAskedForIsDivided() async throws {
    try await home.store.apply(
      ChangeBatch(additions: try (1...9).map { try Self.steps("2024-0\($0)-15T12:00:00Z") }))
    let filter = SampleFilter(
      earliest: Timestamp(iso8601: "2024-03-01T00:00:00Z"), end: Timestamp(iso8601: "2024-05-15T12:00:00Z"))
    let summary = try await export(.csv, .month(.gmt), filter: filter)
    #expect((summary.written, summary.files) == (2, 2))
    #expect(try names() == ["2024-03.csv", "2024-04.csv"])
  }

  // MARK: Workouts

  private func outing(_ time: String, routes: Int, source: String = "Watch") throws -> [Sample] {
    let start = try #require(Timestamp(iso8601: time))
    let end = Timestamp(seconds: start.seconds + 600)
    let workout = Sample(
      uuid: UUID(), type: .workout, start: start, end: end, source: Source(name: source),
      payload: .workout(Workout(activityType: .value(37))))
    return [workout]
      + (0..<routes).map { number in
        Sample(
          uuid: UUID(), type: .workoutRoute, start: start, end: end, source: Source(name: source, version: "\(number)"),
          payload: .workoutRoute(
            WorkoutRoute(
              workout: workout.reference,
              points: (0..<10).map { RoutePoint(time: Double($0), latitude: 52, longitude: 13) })))
      }
  }

  @Test func aFileForEachWorkout() async throws {
    var track = try outing("2024-06-17T10:00:00Z", routes: 1)[1]
    track.payload = .workoutRoute(WorkoutRoute(points: [RoutePoint(latitude: 1, longitude: 2)]))
    // Two at once, one with two routes, one without, and a track of no workout.
    let first = try outing("2024-06-15T10:00:00Z", routes: 1)
    let second = try outing("2024-06-15T10:00:00Z", routes: 1, source: "Phone")
    try await home.store.apply(
      ChangeBatch(
        additions: try first + second + outing("2024-06-16T23:30:05Z", routes: 2)
          + outing("2024-06-18T10:00:00Z", routes: 0)
          + [track]))
    let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
    let summary = try await export(.gpx, .workout(zone))
    #expect((summary.written, summary.files, summary.points) == (5, 4, 41))
    let expected =
      [first[0], second[0]].map { "2024-06-15-120000-Running-\($0.uuid.uuidString.prefix(8)).gpx" }
      + ["2024-06-17-013005-Running.gpx", "2024-06-17-120000-Workout.gpx"]
    #expect(try names() == expected.sorted())
    #expect(try text("out/2024-06-17-013005-Running.gpx").components(separatedBy: "<trk>").count == 3)
    try FileManager.default.removeItem(atPath: folder.path("out"))
    let calendar = try await export(.calendar, .workout(zone))
    #expect((calendar.written, calendar.files) == (4, 4))
    #expect(try names().contains("2024-06-18-120000-Running.ics"))
  }

  // MARK: All or nothing

  @Test func filesThatAreThereAreKept() async throws {
    try await home.store.apply(
      ChangeBatch(additions: try ["2024-01-15T12:00:00Z", "2024-02-15T12:00:00Z"].map { try Self.steps($0) }))
    try FileManager.default.createDirectory(atPath: folder.path("out"), withIntermediateDirectories: false)
    try Data("mine".utf8).write(to: URL(filePath: folder.path("out/2024-02.csv")))
    try Data("other".utf8).write(to: URL(filePath: folder.path("out/other")))
    await #expect(throws: ExportError.alreadyThere(path: folder.path("out/2024-02.csv"))) {
      try await export(.csv, .month(.gmt))
    }
    #expect(try names() == ["2024-02.csv", "other"])
    #expect(try text("out/2024-02.csv") == "mine")
    _ = try await export(.csv, .month(.gmt), replaces: true)
    #expect(try names() == ["2024-01.csv", "2024-02.csv", "other"])
    #expect(try text("out/2024-02.csv") != "mine")
  }

  @Test func aFileIsNoFolder() async throws {
    try Data("mine".utf8).write(to: URL(filePath: folder.path("out")))
    await #expect(throws: ExportError.isNoFolder(path: folder.path("out"))) { try await export(.csv, .type) }
    await #expect(throws: ExportError.self) {
      try await ExportOperation(
        .csv, to: .folder(path: folder.path("no/where"), split: .type, replaces: false)
      ).run(from: home.store)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["out"])
  }

  @Test(arguments: [false, true])
  func cancelledItLeavesNothing(isThere: Bool) async throws {
    try await home.store.apply(ChangeBatch(additions: try (1...9).map { try Self.steps("2024-0\($0)-15T12:00:00Z") }))
    if isThere {
      try FileManager.default.createDirectory(atPath: folder.path("out"), withIntermediateDirectories: false)
    }
    let stages = StageRecorder { withUnsafeCurrentTask { $0?.cancel() } }
    let operation = ExportOperation(
      .json, to: .folder(path: folder.path("out"), split: .month(.gmt), replaces: false), progress: stages)
    let task = Task { [home] in try await operation.run(from: home.store) }
    await #expect(throws: (any Error).self) { try await task.value }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == (isThere ? ["out"] : []))
    if isThere { #expect(try names().isEmpty) }
  }

  @Test func anEmptyStoreMakesNoFiles() async throws {
    #expect(try await export(.csv, .type).files == 0)
    #expect(try names().isEmpty)
  }

  // MARK: Compression

  /// The formats that can be compressed. SQLite files never are.
  private static let streams = ExportFormat.allCases.filter { $0 != .sqlite }
  /// The formats that can't be read back, or are read back as another format.
  private static let oneWay: Set<ExportFormat> = [
    .gpx, .calendar, .appleXML, .appleArchive, .healthAutoExport, .statisticsCSV, .statisticsJSON,
  ]

  @Test(arguments: streams, FileCompression.allCases)
  func aCompressedFileIsTheSame(format: ExportFormat, compression: FileCompression) async throws {
    try await home.fill(20)
    try await home.store.apply(ChangeBatch(additions: try outing("2024-06-16T23:30:05Z", routes: 2)))
    let path = folder.path("file")
    let summary = try await ExportOperation(
      format, to: .file(path: path, replaces: false), compression: compression
    ).run(from: home.store)
    #expect(summary.written > 0)
    let head = try Array(Data(contentsOf: URL(filePath: path)).prefix(2))
    #expect(head == (compression == .gzip ? [0x1F, 0x8B] : [0x28, 0xB5]))
    if Self.oneWay.contains(format) { return }
    let other = try TestHome()
    #expect(try await other.importer(path).run(into: other.store).summary.added == summary.written)
  }
}
