import HealthModel
import Testing

@testable import HealthFormats

@Suite struct GPXWriterTests {
  private let start = Timestamp(microseconds: 1_718_447_400_250_000)
  private let writer = GPXWriter(exported: Timestamp(seconds: 1_720_000_000))

  private func file(_ route: WorkoutRoute, _ rates: [GPXWriter.HeartRate] = []) -> (text: String, points: Int) {
    var bytes: [UInt8] = []
    writer.begin(into: &bytes)
    let points = writer.append(route, from: start, named: "Run & <Rest>", heartRates: rates, to: &bytes)
    writer.end(into: &bytes)
    return (String(decoding: bytes, as: UTF8.self), points)
  }

  private func lines(_ text: String) -> [Substring] { text.split(separator: "\n").filter { $0.hasPrefix("<trkpt") } }

  @Test func aPointSaysAllThatIsKnown() {
    let point = RoutePoint(time: 1, latitude: 52.5, longitude: -13.40000004, elevation: -3.14159, verticalAccuracy: 0)
    let rate = GPXWriter.HeartRate(time: Timestamp(seconds: 1_718_447_404), value: 142.6)
    let (text, points) = file(WorkoutRoute(points: [point]), [rate])
    #expect(points == 1)
    #expect(text.contains("<trk><name>Run &amp; &lt;Rest&gt;</name><trkseg>\n"))
    #expect(
      lines(text) == [
        """
        <trkpt lat="52.5000000" lon="-13.4000000"><ele>-3.1</ele><time>2024-06-15T10:30:01Z</time><extensions>\
        <gpxtpx:TrackPointExtension><gpxtpx:hr>143</gpxtpx:hr></gpxtpx:TrackPointExtension></extensions></trkpt>
        """
      ])
  }

  @Test func anElevationThatIsNoneIsLeftOut() {
    let text = file(
      WorkoutRoute(points: [
        RoutePoint(latitude: 1, longitude: 2, elevation: 3, verticalAccuracy: -1),
        RoutePoint(latitude: 1, longitude: 2, elevation: .infinity),
      ])
    ).text
    #expect(lines(text) == Array(repeating: #"<trkpt lat="1.0000000" lon="2.0000000"></trkpt>"#, count: 2))
  }

  /// The nearest heart rate within five seconds counts, even if points go back in time.
  @Test func theNearestHeartRateCounts() {
    func rate(_ second: Int64, _ value: Double) -> GPXWriter.HeartRate {
      GPXWriter.HeartRate(time: Timestamp(microseconds: start.microseconds + second * 1_000_000), value: value)
    }
    let points = [0.0, 4, 7, 20, 5, 1e300].map { RoutePoint(time: $0, latitude: 0, longitude: 0) }
    let text = file(
      WorkoutRoute(points: points), [rate(0, 60), rate(5, 70), rate(6, .infinity), rate(9, 80), rate(26, 90)]
    ).text
    let rates = lines(text).map { line in
      line.firstMatch(of: /<gpxtpx:hr>(\d+)</).map { String($0.1) }
    }
    #expect(rates == ["60", "70", "70", nil, "70", nil])
  }

  @Test func pointsThatAreNowhereAreLeftOut() {
    let nowhere = [(91.0, 0.0), (0, 181), (.nan, 0), (0, .infinity)]
    let points = nowhere.map { RoutePoint(latitude: $0.0, longitude: $0.1) }
    let (text, count) = file(WorkoutRoute(points: points))
    #expect(count == 0)
    #expect(!text.contains("<trk"))
    #expect(file(WorkoutRoute(points: points + [RoutePoint(latitude: -90, longitude: 180)])).points == 1)
  }

  @Test func whatIsWrittenIsATrack() throws {
    let points = (0..<500).map { index in
      RoutePoint(
        time: Double(index), latitude: 52.5 + Double(index) * 0.0001, longitude: 13.4, elevation: Double(index) / 2)
    }
    let text = file(WorkoutRoute(points: points)).text
    let track = try GPXReader(source: MemorySource(Array(text.utf8)), chunkSize: 100).run()
    #expect(track.creator == "hpeer")
    #expect(track.name == "Run & <Rest>")
    #expect(track.points.map(\.time) == points.map(\.time))
    #expect(track.points.map(\.elevation) == points.map(\.elevation))
    for (read, point) in zip(track.points, points) { #expect(abs(read.latitude - point.latitude) < 1e-7) }
  }
}
