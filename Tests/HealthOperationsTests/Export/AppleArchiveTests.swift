import Foundation
import HealthFormats
import HealthModel
import HealthOperations
import HealthStore
import TestSupport
import Testing

/// Tests of the zip file that an export is written to, and of its import.
@Suite struct AppleArchiveTests {
  private let folder: TemporaryDirectory

  init() throws { folder = try TemporaryDirectory(inMemory: true) }

  private func taken(_ path: String) async throws -> TestHome {
    let home = try TestHome()
    _ = try await home.importer(path).run(into: home.store)
    return home
  }

  private func written(_ home: TestHome, filter: SampleFilter = .everything) async throws -> (String, ExportSummary) {
    let path = folder.path("\(UUID().uuidString).zip")
    let operation = ExportOperation(
      .appleArchive, to: .file(path: path, replaces: false), filter: filter, options: .with { $0.offset = 7200 })
    return (path, try await operation.run(from: home.store))
  }

  private func requireSame(_ one: TestHome, _ other: TestHome, _ what: String = "") async throws {
    let (mine, theirs) = (try await one.store.digests.deep().record, try await other.store.digests.deep().record)
    if mine == theirs { return }
    let types = Set(mine.types).symmetricDifference(theirs.types).map(\.type.shortName)
    Issue.record("\(what) differs in \(Set(types).sorted())")
  }

  /// Writes an export with every kind of file beside the XML, and returns its path.
  private func export() throws -> String {
    let root = folder.path("apple_health_export")
    let dates = #"startDate="2024-06-15 10:00:00 +0200" endDate="2024-06-15 11:00:00 +0200""#
    let xml = """
      <?xml version="1.0" encoding="UTF-8"?>
      <HealthData locale="en_DE">
       <ExportDate value="2024-07-01 12:00:00 +0200"/>
       <Me HKCharacteristicTypeIdentifierDateOfBirth="1980-01-01" HKCharacteristicTypeIdentifierBloodType="HKBloodTypeNotSet"/>
       <Record type="HKQuantityTypeIdentifierHeartRate" sourceName="Watch" unit="count/min" value="60" \(dates)/>
       <Workout workoutActivityType="HKWorkoutActivityTypeRunning" duration="17.33333333333333" durationUnit="min" sourceName="Watch" \(dates)>
        <WorkoutRoute sourceName="Phone" \(dates)><FileReference path="/workout-routes/a.gpx"/></WorkoutRoute>
        <WorkoutRoute sourceName="Two" \(dates)><FileReference path="/workout-routes/b.gpx"/><FileReference path="/workout-routes/c.gpx"/></WorkoutRoute>
        <WorkoutRoute sourceName="Same" \(dates)><FileReference path="/workout-routes/a.gpx"/></WorkoutRoute>
        <WorkoutRoute sourceName="Gone" \(dates)><FileReference path="/workout-routes/gone.gpx"/></WorkoutRoute>
        <WorkoutRoute sourceName="Old" \(dates)><Location latitude="1.5" longitude="2.5"/></WorkoutRoute>
       </Workout>
       <ActivitySummary dateComponents="2024-06-15" activeEnergyBurned="1.5" activeEnergyBurnedUnit="kcal"/>
       <ClinicalRecord type="Observation" identifier="1" sourceName="Clinic" sourceURL="https://x" fhirVersion="4.0.1" \
      receivedDate="2024-06-15 10:00:00 +0200" resourceFilePath="/clinical-records/Observation-1.json"/>
       <ClinicalRecord type="Observation" identifier="2" sourceName="Clinic" sourceURL="https://x" fhirVersion="4.0.1" \
      receivedDate="2024-06-15 10:00:00 +0200" resourceFilePath="/clinical-records/Observation-1.json"/>
      </HealthData>
      """
    let gpx = { (hour: Int, name: String) in
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <gpx version="1.1" creator="\(name == "c" ? "Other" : "Apple Health Export")"><trk><name>\(name)</name><trkseg>\
      <trkpt lon="13.4" lat="52.5"><ele>30.125</ele><time>2024-06-15T\(hour < 10 ? "0" : "")\(hour):00:00Z</time>\
      <extensions><speed>1.5</speed><course>-1</course></extensions></trkpt>\
      <trkpt lon="-13.4" lat="52.6"/></trkseg></trk></gpx>
      """
    }
    let cardiogram =
      "Name,A\nDate of Birth,\"Jun 12, 2006\"\nRecorded Date,2024-06-15 10:00:00 +0200\nClassification,Sinus Rhythm\n"
      + "Symptoms,\nSoftware Version,1.90\nDevice,\"Watch6,7\"\nSample Rate,512 hertz\n\n\nLead,Lead I\nUnit,µV\n\n"
      + (0..<600).map { "\(Double($0) / 7)" }.joined(separator: "\n") + "\n"
    for (name, text) in [
      ("export.xml", xml), ("workout-routes/a.gpx", gpx(8, "a")), ("workout-routes/b.gpx", gpx(8, "b")),
      ("workout-routes/c.gpx", gpx(9, "c")), ("workout-routes/alone.gpx", gpx(12, "alone")),
      ("electrocardiograms/ecg_2024-06-15.csv", cardiogram),
      ("electrocardiograms/ecg_2024-06-15_1.csv", cardiogram.replacing("10:00:00 +0200", with: "11:00:00 +0200")),
      ("clinical-records/Observation-1.json", #"{"resourceType":"Observation","id":"1","value":1.50}"#),
    ] {
      let url = URL(filePath: "\(root)/\(name)")
      try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data(text.utf8).write(to: url)
    }
    return root
  }

  @Test func aWholeExportComesBack() async throws {
    let home = try await taken(try export())
    let (path, summary) = try await written(home)
    #expect((summary.omitted, summary.partial) == ([:], 0))
    #expect(try await summary.written == home.store.samples.typeCounts().reduce(0) { $0 + $1.samples })
    let other = try await taken(path)
    try await requireSame(home, other)
    #expect(try await home.store.samples.count(of: .electrocardiogram, in: nil) == 2)
    #expect(try await home.store.samples.count(of: .workoutRoute, in: nil) == 6)
    // And again, by the very same bytes but for the time.
    try await requireSame(home, try await taken(try await written(other).0))
  }

  /// Types that weren't selected are missing, even if other elements refer to them.
  @Test func whatIsAskedForIsThere() async throws {
    let home = try await taken(try export())
    let (path, summary) = try await written(home, filter: SampleFilter(types: [.workoutRoute]))
    #expect(summary.omitted == [.workoutRoute: 5])
    #expect(summary.written == 1)
    let other = try await taken(path)
    #expect(try await other.store.samples.typeCounts().map(\.samples) == [1])
  }

  /// A peer can send any file name.
  @Test func hostilePathsAreReplaced() async throws {
    let home = try TestHome()
    let start = AppleExportText.start
    let workout = Sample(
      uuid: UUID(), type: .workout, start: start, end: start, source: Source(name: "Watch"),
      payload: .workout(Workout(activityType: .value(37))))
    let paths = ["../../etc/passwd", "/export.xml", "/workout-routes/x.gpx", "/workout-routes/X.gpx", "", "a\nb"]
    try await home.store.apply(
      ChangeBatch(
        additions: [workout]
          + paths.enumerated().map { index, path in
            Sample(
              uuid: UUID(), type: .workoutRoute, start: start, end: start, source: Source(name: "\(index)"),
              payload: .workoutRoute(
                WorkoutRoute(
                  workout: workout.reference, path: path,
                  points: [RoutePoint(time: Double(index), latitude: Double(index), longitude: 2)])))
          }))
    let (path, summary) = try await written(home)
    #expect(summary.routes == paths.count)
    let other = try await taken(path)
    var latitudes: Set<Double> = []
    for sample in try await other.store.samples.page(of: .workoutRoute, limit: 100) {
      if case .workoutRoute(let route) = sample.payload {
        #expect(route.path?.hasPrefix("/workout-routes/") == true)
        latitudes.formUnion(route.points.map(\.latitude))
      }
    }
    #expect(latitudes == Set(paths.indices.map(Double.init)))
  }

  // MARK: Fixtures

  private static let fixtures: [String] = {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let folder =
      ProcessInfo.processInfo.environment["HPEER_FIXTURES"]
      ?? root.deletingLastPathComponent().appendingPathComponent("shared/data/fixtures").path
    return ["real", "synthetic", "derived", "zip"].flatMap { part in
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(part)")) ?? []
      return names.filter { $0.hasSuffix(".xml") || $0.hasSuffix(".zip") }.map { "\(folder)/\(part)/\($0)" }
    }.sorted()
  }()

  @Test(.enabled(if: !fixtures.isEmpty, "no sample files: set HPEER_FIXTURES to their folder"), arguments: fixtures)
  func exportsOfOthersComeBack(file: String) async throws {
    let home = try TestHome()
    // What cannot be imported is for other tests.
    guard let operation = try? await home.importer(file), (try? await operation.run(into: home.store)) != nil else {
      return
    }
    try await requireSame(home, try await taken(try await written(home).0), file)
  }
}
