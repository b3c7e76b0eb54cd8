import CZip
import Foundation
import HealthModel
import Testing

@testable import HealthFormats

@Suite struct SideFileTests {
  private let folder: TemporaryFolder
  private let d = { (second: Int) in ExportText.date(second) }

  init() throws {
    folder = try TemporaryFolder()
  }

  private func workout(_ routes: String, at second: Int = 0) -> String {
    #"<Workout workoutActivityType="HKWorkoutActivityTypeRunning" sourceName="Watch" startDate="\#(d(second))""#
      + #" endDate="\#(d(second + 60))">\#(routes)</Workout>"#
  }

  private func route(_ path: String, at second: Int = 0) -> String {
    #"<WorkoutRoute sourceName="Watch" device="&lt;&lt;HKDevice: 0x1&gt;, name:W&gt;" creationDate="\#(d(90))""#
      + #" startDate="\#(d(second))" endDate="\#(d(second + 60))">\#(ExportText.metadata("k", "v"))"#
      + #"<FileReference path="\#(path)"/></WorkoutRoute>"#
  }

  /// Writes an export to the folder, or to a zip file in it, and reads it.
  private func read(_ body: [String], files: [String: String] = [:], zipped: Bool = false) throws -> Reading {
    let xml = ExportText(body).text
    if zipped { return try Reading(AppleHealthExport(path: try zip(xml, files))) }
    try? FileManager.default.removeItem(atPath: "\(folder.path)/export")
    try folder.write(xml, to: "export/apple_health_export/export.xml")
    for (name, content) in files { try folder.write(content, to: "export/apple_health_export/\(name)") }
    return try Reading(AppleHealthExport(path: "\(folder.path)/export"))
  }

  private func zip(_ xml: String, _ files: [String: String]) throws -> String {
    let path = "\(folder.path)/\(UUID().uuidString).zip"
    var code: Int32 = 0
    let archive = try #require(zip_open(path, ZIP_CREATE, &code))
    for (name, content) in files.merging(["export.xml": xml], uniquingKeysWith: { a, _ in a }) {
      let bytes = Array(content.utf8)
      let copy = try #require(malloc(max(1, bytes.count)))
      copy.copyMemory(from: bytes, byteCount: bytes.count)
      let source = try #require(zip_source_buffer(archive, copy, zip_uint64_t(bytes.count), 1))
      try #require(zip_file_add(archive, "apple_health_export/\(name)", source, zip_flags_t(ZIP_FL_ENC_RAW)) >= 0)
    }
    try #require(zip_close(archive) == 0)
    return path
  }

  private func routes(_ reading: Reading) -> [WorkoutRoute] {
    reading.samples.compactMap { if case .workoutRoute(let route) = $0.payload { route } else { nil } }
  }

  private let gpx = GPXText.file([GPXText.point(0), GPXText.point(10, 52.75)])

  @Test(arguments: [true, false])
  func aRouteIsJoinedToItsWorkout(zipped: Bool) throws {
    let reading = try read(
      [workout(route("/workout-routes/route_1.gpx"))], files: ["workout-routes/route_1.gpx": gpx], zipped: zipped)
    let sample = try #require(reading.samples.first { $0.type == .workoutRoute })
    let workout = try #require(reading.samples.first { $0.type == .workout })
    guard case .workoutRoute(let route) = sample.payload else {
      Issue.record("no route")
      return
    }
    #expect(route.workout == workout.reference)
    #expect(route.path == "/workout-routes/route_1.gpx")
    var second = GPXText.expected
    (second.time, second.latitude) = (10, 52.75)
    #expect(route.points == [GPXText.expected, second])
    #expect(sample.start == ExportText.start)
    #expect(sample.source.name == "Watch")
    #expect(sample.device == Device(name: "W"))
    #expect(sample.created == Timestamp(seconds: ExportText.start.seconds + 90))
    #expect(sample.metadata == ["k": "v", "hpeer.gpx.name": "Route"])
    #expect(
      sample.uuid
        == SampleIdentity.uuid(
          kind: "WorkoutRoute", type: .workoutRoute, source: "Watch", start: sample.start, end: sample.end,
          created: sample.created, ordinal: 0))
    #expect(reading.report.elements == ["Workout": 1, "WorkoutRoute": 1])
    #expect(reading.report.remarks.isEmpty)
    #expect(reading.report.skipped.isEmpty)
  }

  @Test func againInOtherUnitsNamesAndOffsetsItIsTheSame() throws {
    let first = try read([workout(route("/workout-routes/a.gpx"))], files: ["workout-routes/a.gpx": gpx])
    let other = GPXText.file(
      [GPXText.point(0), GPXText.point(10, 52.75)], exported: "2024-01-01T00:00:00Z", name: "Other")
    let again = try read(
      [workout(route("/workout-routes/b.gpx")).replacing("+0200", with: "+0200")],
      files: ["workout-routes/b.gpx": other])
    #expect(first.uuids == again.uuids)
  }

  /// The file is in a zip file, because Foundation can't write a file of that name.
  @Test func aNameMayBeginWithWhatJoinsTheSlashBeforeIt() throws {
    let name = "workout-routes/\u{301}a.gpx"
    let reading = try read([workout(route("/\(name)"))], files: [name: gpx], zipped: true)
    #expect(routes(reading).map(\.points.count) == [2])
  }

  @Test(arguments: [
    "workout-routes/route_1.gpx", "//Workout-Routes/ROUTE_1.GPX", "./workout-routes/route_1.gpx",
    "workout-routes\\route_1.gpx",
  ])
  func pathsAreTakenAsPeopleWriteThem(path: String) throws {
    let reading = try read([workout(route(path))], files: ["workout-routes/route_1.gpx": gpx])
    #expect(routes(reading).map(\.points.count) == [2])
  }

  @Test(arguments: [
    "../secret.gpx", "/workout-routes/../../secret.gpx", "/etc/passwd", "workout-routes/../export.xml", "", "/", "..",
    "workout-routes/link.gpx", "workout-routes/linked/secret.gpx",
  ])
  func pathsNeverLeadOutOfTheExport(path: String) throws {
    try folder.write(gpx, to: "export/secret.gpx")
    try folder.write(gpx, to: "secret.gpx")
    let inside = "\(folder.path)/export/apple_health_export/workout-routes"
    try FileManager.default.createDirectory(atPath: inside, withIntermediateDirectories: true)
    try folder.write(ExportText(workout(route(path))).text, to: "export/apple_health_export/export.xml")
    try FileManager.default.createSymbolicLink(
      atPath: "\(inside)/link.gpx", withDestinationPath: "\(folder.path)/secret.gpx")
    try FileManager.default.createSymbolicLink(atPath: "\(inside)/linked", withDestinationPath: folder.path)
    let reading = try Reading(AppleHealthExport(path: "\(folder.path)/export"))
    #expect(routes(reading).map(\.points.count) == [0])
    #expect(reading.report.remarks["WorkoutRoute whose file is missing"]?.count == 1)
  }

  @Test func aRouteWithoutItsFileIsKeptAndItsPointsMayComeLater() throws {
    let without = try read([workout(route("/workout-routes/a.gpx"))])
    let with = try read([workout(route("/workout-routes/a.gpx"))], files: ["workout-routes/a.gpx": gpx])
    #expect(routes(without).map(\.points) == [[]])
    #expect(routes(with).map(\.points.count) == [2])
    #expect(without.uuids.intersection(with.uuids).count == 1)
  }

  @Test func twoRoutesWithEqualDatesAreToldApartByTheirPoints() throws {
    let other = GPXText.file([GPXText.point(0, 1)])
    let one = try read(
      [workout(route("/workout-routes/a.gpx") + route("/workout-routes/b.gpx"))],
      files: ["workout-routes/a.gpx": gpx, "workout-routes/b.gpx": other])
    let two = try read(
      [workout(route("/workout-routes/c.gpx") + route("/workout-routes/d.gpx"))],
      files: ["workout-routes/c.gpx": other, "workout-routes/d.gpx": gpx])
    #expect(one.uuids.count == 3)
    #expect(one.uuids == two.uuids)
    func byPoints(_ reading: Reading) -> [Int: UUID] {
      Dictionary(
        uniqueKeysWithValues: reading.samples.compactMap { sample in
          if case .workoutRoute(let route) = sample.payload { (route.points.count, sample.uuid) } else { nil }
        })
    }
    #expect(byPoints(one) == byPoints(two))
    // The workouts of two that are in different ones.
    let apart = try read(
      [
        workout(route("/workout-routes/a.gpx", at: 5)), workout(route("/workout-routes/b.gpx", at: 5), at: 1),
      ], files: ["workout-routes/a.gpx": gpx, "workout-routes/b.gpx": other])
    #expect(apart.uuids.count == 4)
    #expect(Set(routes(apart).compactMap(\.workout)).count == 2)
  }

  // MARK: Files that several routes name

  /// Returns the numbers of points of routes that begin at `starts`, last a minute, and all refer to the same file.
  private func pointsOfRoutes(at starts: [Int], sharing file: String, zipped: Bool = false) throws -> [Int] {
    let path = "/workout-routes/route_1.gpx"
    let reading = try read(
      starts.map { workout(route(path, at: $0), at: $0) }, files: ["workout-routes/route_1.gpx": file], zipped: zipped)
    let routes = reading.samples.filter { $0.type == .workoutRoute }
    let counts = try starts.map { start in
      let sample = try #require(routes.first { $0.start.seconds == ExportText.start.seconds + Int64(start) })
      guard case .workoutRoute(let route) = sample.payload else { return -1 }
      #expect(route.path == path)
      return route.points.count
    }
    let missing = reading.report.remarks.keys.filter { $0.contains("is another's") }.sorted()
    let expected = Swift.zip(starts, counts).filter { $0.1 == 0 }.map { start, _ in
      "WorkoutRoute of \(Timestamp(seconds: ExportText.start.seconds + Int64(start)).iso8601) whose file is missing: "
        + "workout-routes/route_1.gpx is another's"
    }
    #expect(missing == expected.sorted())
    return counts
  }

  @Test(arguments: [true, false])
  func aFileThatSeveralRoutesNameIsThatOfTheOneOfItsTimes(zipped: Bool) throws {
    let files = [0, 100, 30].map { start in GPXText.file((0..<3).map { GPXText.point(start + 30 * $0) }) }
    #expect(try pointsOfRoutes(at: [0, 100], sharing: files[0], zipped: zipped) == [3, 0])
    #expect(try pointsOfRoutes(at: [0, 100], sharing: files[1], zipped: zipped) == [0, 3])
    #expect(try pointsOfRoutes(at: [100, 30, 0], sharing: files[1], zipped: zipped) == [3, 0, 0])
    // In all of these times, but from the beginning to the end of one.
    #expect(try pointsOfRoutes(at: [31, 30, 29], sharing: files[2], zipped: zipped) == [0, 3, 0])
  }

  @Test func aFileOfNoTimeNearIsThatOfTheNearest() throws {
    let file = GPXText.file([GPXText.point(1000), GPXText.point(1010)])
    #expect(try pointsOfRoutes(at: [0, 100, 50], sharing: file) == [0, 2, 0])
  }

  @Test func whatTimesDoNotTellIsLostToNobody() throws {
    let timeless = GPXText.file([#"<trkpt lat="1" lon="2"/>"#])
    #expect(try pointsOfRoutes(at: [0, 100], sharing: timeless) == [1, 1])
    let both = try read(
      [
        workout(route("/workout-routes/a.gpx")),
        workout(route("/workout-routes/a.gpx")).replacing("Running", with: "Walking"),
      ], files: ["workout-routes/a.gpx": gpx])
    #expect(routes(both).map(\.points.count) == [2, 2])
  }

  @Test func aFileThatOneRouteNamesIsItsWhateverTheTimes() throws {
    let reading = try read(
      [workout(route("/workout-routes/a.gpx", at: 7000), at: 7000)], files: ["workout-routes/a.gpx": gpx])
    #expect(routes(reading).map(\.points.count) == [2])
    #expect(reading.report.remarks.isEmpty)
  }

  @Test func aRouteWithoutDatesHasItsWorkouts() throws {
    let bare = #"<WorkoutRoute><FileReference path="workout-routes/a.gpx"/></WorkoutRoute>"#
    let reading = try read([workout(bare)], files: ["workout-routes/a.gpx": gpx])
    let sample = try #require(reading.samples.first { $0.type == .workoutRoute })
    #expect(sample.start == ExportText.start)
    #expect(sample.source.name == "Watch")
    #expect(routes(reading).map(\.points.count) == [2])
  }

  @Test func pointsInTheXMLAreRead() throws {
    let reading = try read([
      workout(
        #"<WorkoutRoute sourceName="iPhone" startDate="\#(d(0))" endDate="\#(d(60))">"#
          + #"<Location date="\#(d(2))" latitude="37.7777" longitude="-122.426" altitude="21.2694""#
          + #" horizontalAccuracy="2.4" verticalAccuracy="1.7" course="-1" speed="2.5"/>"#
          + #"<Location latitude="1" longitude="2" heading="3"/><Location latitude="x"/></WorkoutRoute>"#)
    ])
    let sample = try #require(reading.samples.last)
    #expect(
      routes(reading).map(\.points) == [
        [
          RoutePoint(
            time: 2, latitude: 37.7777, longitude: -122.426, elevation: 21.2694, speed: 2.5, course: -1,
            horizontalAccuracy: 2.4, verticalAccuracy: 1.7)
        ]
      ])
    #expect(sample.metadata.count == 2)
    #expect(reading.report.remarks["WorkoutRoute/Location is unknown"]?.count == 2)
  }

  @Test func aTrackThatNoWorkoutNamesIsARoute() throws {
    let files = ["workout-routes/z.gpx": gpx, "workout-routes/y.gpx": gpx, "workout-routes/bad.gpx": "x"]
    let reading = try read([ExportText.record()], files: files)
    #expect(routes(reading).map(\.points.count) == [2, 2])
    #expect(routes(reading).allSatisfy { $0.workout == nil })
    #expect(reading.uuids.count == 3)
    #expect(reading.report.remarks["GPX file that no workout names"]?.count == 2)
    #expect(reading.report.remarks["workout-routes/bad.gpx: it is no GPX track"]?.count == 1)
    let renamed = try read([ExportText.record()], files: ["workout-routes/a.gpx": gpx, "workout-routes/b.gpx": gpx])
    #expect(renamed.uuids == reading.uuids)
  }

  @Test func anXMLThatEndsEarlyLeavesTheOthersAlone() throws {
    try folder.write(
      ExportText(ExportText.record()).text.replacing("</HealthData>", with: ""), to: "e/export.xml")
    try folder.write(gpx, to: "e/workout-routes/a.gpx")
    let reading = try Reading(AppleHealthExport(path: "\(folder.path)/e"))
    #expect(routes(reading).isEmpty)
    #expect(!reading.report.isComplete)
    #expect(reading.report.remarks.keys.contains { $0.hasPrefix("GPX files that the part") })
  }

  @Test func aLongRouteIsDivided() throws {
    let count = 200_010
    let points = (0..<count).map { "<trkpt lat=\"1\" lon=\"\(Double($0) / 10_000)\"/>" }
    let reading = try read(
      [workout(route("/workout-routes/a.gpx"))], files: ["workout-routes/a.gpx": GPXText.file(points)])
    #expect(routes(reading).map(\.points.count) == [200_000, 10])
    #expect(reading.uuids.count == 3)
  }

  @Test(arguments: [true, false])
  func anElectrocardiogramIsASample(zipped: Bool) throws {
    let reading = try read(
      [ExportText.record()],
      files: [
        "electrocardiograms/ecg_2023-03-04.csv": ElectrocardiogramText.file(),
        "electrocardiograms/ecg_bad.csv": "nothing",
      ], zipped: zipped)
    let sample = try #require(reading.samples.first { $0.type == .electrocardiogram })
    #expect(sample.payload == .electrocardiogram(ElectrocardiogramText.expected))
    #expect(sample.start == Timestamp(iso8601: "2023-03-05T01:55:07Z"))
    #expect(sample.end.microseconds == sample.start.microseconds + 5859)
    #expect(sample.source == Source(name: "Watch6,7", version: "1.90"))
    #expect(sample.device == Device(hardwareVersion: "Watch6,7"))
    #expect(sample.metadata.isEmpty)
    #expect(!"\(sample)".contains("Casey"))
    #expect(reading.report.elements["Electrocardiogram"] == 1)
    #expect(reading.report.remarks["electrocardiograms/ecg_bad.csv: it is no electrocardiogram"]?.count == 1)
  }

  @Test func electrocardiogramsOfOneMomentAreToldApart() throws {
    let files = [
      "electrocardiograms/a.csv": ElectrocardiogramText.file(),
      "electrocardiograms/b.csv": ElectrocardiogramText.file(voltages: ["4", "5", "6"]),
      // The same moment, printed with the offset of another day.
      "electrocardiograms/c.csv": ElectrocardiogramText.file(recorded: "2023-03-05 01:55:07 +0000"),
    ]
    let reading = try read([ExportText.record()], files: files)
    #expect(reading.uuids.count == 4)
    let renamed = try read(
      [ExportText.record()], files: Dictionary(uniqueKeysWithValues: files.map { ("\($0.key).csv", $0.value) }))
    #expect(renamed.uuids == reading.uuids)
  }

  @Test func aClinicalRecordHasItsResource() throws {
    let record = { (path: String) in
      #"<ClinicalRecord type="HKClinicalTypeIdentifierLabResultRecord" identifier="\#(path)" sourceName="Clinic""#
        + #" receivedDate="\#(ExportText.date(0))" resourceFilePath="/clinical-records/\#(path)"/>"#
    }
    let deep = String(repeating: "[", count: 300) + String(repeating: "]", count: 300)
    let reading = try read(
      [record("a.json"), record("b.json"), record("c.json"), record("d.json")],
      files: [
        "clinical-records/a.json": #"{"resourceType":"Observation","value":5.5}"#, "clinical-records/b.json": "no JSON",
        "clinical-records/c.json": deep,
      ])
    let resources = reading.samples.map { sample -> JSONValue? in
      if case .clinicalRecord(let record) = sample.payload { record.resource } else { nil }
    }
    #expect(
      resources == [
        .object(["resourceType": "Observation", "value": .number(5.5)]), .string("no JSON"), .string(deep), nil,
      ])
    #expect(reading.report.remarks["clinical-records/b.json: it is no JSON"]?.count == 1)
    #expect(reading.report.remarks["ClinicalRecord whose file is missing"]?.count == 1)
    // A record that came without its resource does not hide one that comes with it.
    #expect(try read([record("a.json")]).uuids.isDisjoint(with: reading.uuids))
    #expect(try read([record("d.json")]).uuids.isSubset(of: reading.uuids))
    for sample in reading.samples {
      #expect(try JSONDecoder().decode(Sample.self, from: JSONEncoder().encode(sample)) == sample)
    }
  }

  @Test func anAttachmentIsJoinedByItsIdentifier() throws {
    let prescription =
      #"<VisionPrescription type="t" dateIssued="\#(ExportText.date(0))"><Attachment identifier="6F1A-22BB"/>"#
      + #"<Attachment identifier="other-id"/></VisionPrescription>"#
    let reading = try read([prescription], files: ["attachments/6f1a-22bb.pdf": "PDF"], zipped: true)
    guard case .visionPrescription(let content) = reading.samples.first?.payload else { return }
    #expect(
      content.attachments == [
        PrescriptionAttachment(
          identifier: "6F1A-22BB", path: "/attachments/6f1a-22bb.pdf", content: Data("PDF".utf8)),
        PrescriptionAttachment(identifier: "other-id"),
      ])
  }

  /// No other machine accepts a sample with larger attachments.
  @Test func attachmentsOfOnePrescriptionAreSixteenMebibytes() throws {
    let names = ["attachment-1", "attachment-2", "attachment-3", "attachment-4"]
    let prescription =
      #"<VisionPrescription type="t" dateIssued="\#(ExportText.date(0))">"#
      + names.map { #"<Attachment identifier="\#($0)"/>"# }.joined() + "</VisionPrescription>"
    let file = String(repeating: "7", count: 7 << 20)
    var files = Dictionary(uniqueKeysWithValues: names.map { ("attachments/\($0).pdf", file) })
    files["attachments/attachment-4.pdf"] = "small"
    let reading = try read([prescription], files: files, zipped: true)
    let sample = try #require(reading.samples.first)
    guard case .visionPrescription(let content) = sample.payload else { return }
    let sizes: [Int?] = [file.utf8.count, file.utf8.count, nil, 5]
    #expect(content.attachments.map { $0.content?.count } == sizes)
    #expect(reading.report.remarks.keys.contains { $0.hasPrefix("attachments/attachment-3.pdf: ") })
    #expect(try sample.payload.isWithinBudget)
  }

  @Test func damageInASideFileIsARemark() throws {
    let path = try zip(
      ExportText(workout(route("/workout-routes/a.gpx")), ExportText.record(at: 100)).text,
      ["workout-routes/a.gpx": gpx])
    var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    // The CRC of the file in the central directory, whose name is the last before it.
    let name = Array("apple_health_export/workout-routes/a.gpx".utf8)
    let header = try #require(bytes.indices.last { bytes[$0...].starts(with: name) }) - 46
    bytes[header + 16] ^= 1
    let damaged = try folder.write(bytes, to: "damaged.zip")
    let reading = try Reading(AppleHealthExport(path: damaged))
    #expect(reading.recordCount == 1)
    #expect(routes(reading).map(\.points.count) == [0])
    #expect(reading.report.remarks.keys.contains { $0.hasPrefix("workout-routes/a.gpx: ") }, "\(reading.report)")
  }
}
