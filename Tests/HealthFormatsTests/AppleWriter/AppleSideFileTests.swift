import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

/// Tests that the files beside the XML are unchanged after they are written and read back.
@Suite struct AppleSideFileTests {
  private static let start = Timestamp(seconds: 1_718_447_400)

  private static func track(_ points: [RoutePoint], metadata: Metadata = [:], file: Int = 1) throws -> (
    track: GPXReader.Track, lost: Int
  ) {
    let sample = Sample(
      uuid: UUID(), type: .workoutRoute, start: start, end: start, source: Source(name: "Watch"), metadata: metadata,
      payload: .workoutRoute(
        WorkoutRoute(workout: SampleReference(type: .workout, start: start, uuid: UUID()), points: points)))
    let writer = AppleTrackWriter(exported: start)
    var bytes: [UInt8] = []
    writer.begin(sample, file: file, to: &bytes)
    let lost = writer.append(points, start: start, to: &bytes)
    writer.end(to: &bytes)
    return (try GPXReader(source: MemorySource(bytes), start: start).run(), lost)
  }

  @Test func pointsComeBack() throws {
    var random = TestSupport.SeededGenerator(seed: 4)
    let points = (0..<500).map { index in
      func some(_ range: ClosedRange<Double>) -> Double? {
        random.oneIn(3) ? nil : Double.random(in: range, using: &random)
      }
      return RoutePoint(
        time: random.oneIn(5) ? nil : Double(index) + (random.oneIn(2) ? 0.25 : 0),
        latitude: Double.random(in: -90...90, using: &random), longitude: Double.random(in: -180...180, using: &random),
        elevation: some(-400...9000), speed: some(-1...30), course: some(-1...360), horizontalAccuracy: some(0...50),
        verticalAccuracy: some(0...1e-9))
    }
    let (track, lost) = try Self.track(points, metadata: ["hpeer.gpx.name": "Route <1> & \"more\""])
    #expect(track.points == points)
    #expect(track.problems.isEmpty)
    #expect(track.creator == "Apple Health Export")
    #expect(track.name == "Route <1> & \"more\"")
    #expect(lost == 0)
  }

  @Test func pointsNowhereAreCounted() throws {
    let nowhere = [(Double.nan, 1.0), (91, 1), (1, -181), (.infinity, 1)].map {
      RoutePoint(latitude: $0.0, longitude: $0.1)
    }
    let (track, lost) = try Self.track(nowhere + [RoutePoint(latitude: 1, longitude: 2, elevation: .nan)])
    #expect(track.points == [RoutePoint(latitude: 1, longitude: 2)])
    #expect(lost == 4)
  }

  @Test func furtherFilesHaveTheirNames() throws {
    let metadata: Metadata = ["hpeer.gpx.name": "one", "hpeer.gpx.name#2": "two", "hpeer.gpx.creator#2": "other"]
    let track = try Self.track([], metadata: metadata, file: 2).track
    #expect((track.name, track.creator) == ("two", "other"))
  }

  private static let cardiograms = [
    Electrocardiogram(
      classification: "Sinus Rhythm", symptoms: "Dizziness, \"a little\"", averageHeartRate: 72,
      samplingFrequency: 512, lead: "Lead I", unit: "µV", voltages: [1, -2.5, 1e-7, 300]),
    Electrocardiogram(voltages: [0]), Electrocardiogram(unit: "µV", voltages: [1, .nan, 2]),
    Electrocardiogram(classification: "Sinus; rhythm", samplingFrequency: 511.75, voltages: [1]),
  ]

  @Test(arguments: cardiograms, [0, -18_000])
  func cardiogramsComeBack(content: Electrocardiogram, offset: Int) throws {
    for start in [Self.start, Timestamp(microseconds: Self.start.microseconds + 250_000)] {
      let sample = Sample(
        uuid: UUID(), type: .electrocardiogram, start: start, end: start,
        source: Source(name: "Watch6,7", version: "1.90"),
        device: Device(hardwareVersion: "Watch6,7"), metadata: ["hpeer.attribute.Note": "a,b"],
        payload: .electrocardiogram(content))
      let bytes = try #require(ElectrocardiogramWriter(offset: offset).file(sample))
      let recording = try ElectrocardiogramReader.read(MemorySource(bytes))
      #expect("\(recording.electrocardiogram)" == "\(content)")
      #expect(recording.recorded == start)
      #expect((recording.device, recording.softwareVersion) == ("Watch6,7", "1.90"))
      #expect(recording.others.map { [$0.label, $0.value] } == [["Note", "a,b"]])
    }
  }

  @Test(arguments: [
    JSONValue.string("no JSON"), .string("123"), .string("{"), .string("\"quoted\""), .object(["a": .number(1.5)]),
    .null,
    .object(["n": .integer(1), "s": .string("ä/\n"), "l": .array([.bool(true), .null])]), .string(""),
  ])
  func resourcesComeBack(resource: JSONValue) throws {
    #expect(ClinicalResource.read(try ClinicalResource.file(resource)).resource == resource)
  }

  @Test func namesAreKeptWhereTheyLeadNowhereElse() {
    var names = AppleFileNames()
    #expect(names.claim("/workout-routes/a.gpx", in: .routes) == "workout-routes/a.gpx")
    #expect(names.claim("workout-routes/b c.GPX", in: .routes) == "workout-routes/b c.GPX")
    // Another has it, as a reader sees it.
    #expect(names.claim("/workout-routes/A.gpx", in: .routes) == nil)
    for path in [
      "", "/", "/export.xml", "/workout-routes/../export.xml", "//workout-routes/x.gpx", "/other/x.gpx",
      "/workout-routes/x.csv", "/workout-routes/.x.gpx", "/workout-routes/x/y.gpx", "/workout-routes\\x.gpx",
      "C:/workout-routes/x.gpx", "/workout-routes/x\u{1}.gpx",
      "/workout-routes/\(String(repeating: "x", count: 300)).gpx",
    ] { #expect(names.claim(path, in: .routes) == nil, "\(path)") }
    #expect(names.claim("/attachments/x.pdf", in: nil) == "attachments/x.pdf")
    #expect(names.claim("/attachments/x.xml", in: nil) == nil)
    #expect(names.claim("/workout-routes/y.gpx", in: nil) == nil)
    #expect(names.make("a/../b", in: .routes) == "workout-routes/a..b.gpx")
    #expect(names.make("a", in: .routes) == "workout-routes/a_1.gpx")
  }
}
