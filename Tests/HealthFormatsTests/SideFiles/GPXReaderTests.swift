import Foundation
import HealthModel
import Testing

@testable import HealthFormats

/// A builder of GPX files in the format of Apple's export.
enum GPXText {
  static func point(
    _ second: Int, _ latitude: Double = 52.5, _ longitude: Double = 13.25, extensions: Bool = true
  ) -> String {
    let time = Timestamp(seconds: ExportText.start.seconds + Int64(second)).iso8601
    let more =
      extensions
      ? "<extensions><speed>2.5</speed><course>90</course><hAcc>4</hAcc><vAcc>3</vAcc></extensions>" : ""
    return "<trkpt lon=\"\(longitude)\" lat=\"\(latitude)\"><ele>34.5</ele><time>\(time)</time>\(more)</trkpt>"
  }

  static func file(_ points: [String], exported: String = "2019-11-07T03:43:52Z", name: String? = "Route") -> String {
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<gpx version=\"1.1\" creator=\"Apple Health Export\""
      + " xmlns=\"http://www.topografix.com/GPX/1/1\">\n <metadata>\n  <time>\(exported)</time>\n </metadata>\n"
      + " <trk>\n" + (name.map { "  <name>\($0)</name>\n" } ?? "") + "  <trkseg>\n"
      + points.map { "   \($0)\n" }.joined() + "  </trkseg>\n </trk>\n</gpx>"
  }

  static let expected = RoutePoint(
    time: 0, latitude: 52.5, longitude: 13.25, elevation: 34.5, speed: 2.5, course: 90, horizontalAccuracy: 4,
    verticalAccuracy: 3)
}

@Suite struct GPXReaderTests {
  private func read(_ text: String, start: Timestamp? = nil, chunkSize: Int = 4096) throws -> GPXReader.Track {
    try GPXReader(source: MemorySource(Array(text.utf8)), chunkSize: chunkSize, start: start).run()
  }

  @Test func pointsAreRead() throws {
    let track = try read(GPXText.file([GPXText.point(3), GPXText.point(5, -1.5, -122.25, extensions: false)]))
    var first = GPXText.expected
    first.time = 0
    #expect(
      track.points == [first, RoutePoint(time: 2, latitude: -1.5, longitude: -122.25, elevation: 34.5)])
    #expect(track.start == Timestamp(seconds: ExportText.start.seconds + 3))
    #expect(track.end == Timestamp(seconds: ExportText.start.seconds + 5))
    #expect(track.creator == "Apple Health Export")
    #expect(track.name == "Route")
    #expect(track.problems.isEmpty)
  }

  @Test func anyDivisionGivesTheSame() throws {
    let text = GPXText.file((0..<50).map { GPXText.point($0, Double($0)) })
    let whole = try read(text)
    for chunkSize in [1, 2, 3, 7, 31, 256] {
      #expect(try read(text, chunkSize: chunkSize).points == whole.points, "chunks of \(chunkSize)")
    }
    #expect(whole.points.count == 50)
  }

  @Test func timesCountFromTheStartThatIsGiven() throws {
    let track = try read(GPXText.file([GPXText.point(3)]), start: ExportText.start)
    #expect(track.points.first?.time == 3)
    let before = try read(
      GPXText.file([GPXText.point(3)]), start: Timestamp(seconds: ExportText.start.seconds + 4))
    #expect(before.points.first?.time == -1)
  }

  @Test func attributesAndNamesMayBeOtherwise() throws {
    let track = try read(
      """
      \u{FEFF}<!-- <gpx> --><gpx creator='x'><trk><trkseg><trkpt lat='1,5' lon = "2" ><gpxtpx:speed> 3 </gpxtpx:speed>\
      <ele/><time></time></trkpt><trkpt lon="4" lat="3"/></trkseg><trkseg/></trk></gpx>
      """)
    #expect(
      track.points == [RoutePoint(latitude: 1.5, longitude: 2, speed: 3), RoutePoint(latitude: 3, longitude: 4)])
    #expect(track.problems.mapValues(\.count) == ["a decimal comma": 1, "more than one segment": 1])
  }

  @Test(arguments: [
    (#"<trkpt lat="91" lon="0"/>"#, "a point without a place on Earth"),
    (#"<trkpt lat="1e300" lon="0"/>"#, "a point without a place on Earth"),
    (#"<trkpt lat="nan" lon="0"/>"#, "a number that cannot be read"),
    (#"<trkpt lon="0"/>"#, "a point without a place on Earth"), ("<wpt lat=\"1\" lon=\"1\"/>", "a waypoint"),
    (#"<trkpt lat="1" lon="1"><hr>60</hr></trkpt>"#, "hr is unknown"),
    (#"<trkpt lat="1" lon="1"><time>noon</time></trkpt>"#, "a time that cannot be read"),
    (#"<trkpt lat="1" lon="1"><ele>&bomb;</ele></trkpt>"#, "a number that cannot be read"),
    (#"<trkpt lat="1" lon="1"><ele>\#(String(repeating: "1", count: 300))</ele></trkpt>"#, "a text that is too long"),
    (#"<trkpt lat="1" lon="1"><ele>\#(String(repeating: "x", count: 9_000))</ele></trkpt>"#, "a text that is too long"),
    ("<\u{0}>", "a malformed tag"),
  ])
  func whatIsOddIsNamed(_ content: String, _ problem: String) throws {
    let track = try read(GPXText.file([GPXText.point(0), content, GPXText.point(1)]))
    #expect(track.problems.keys.contains { $0.hasPrefix(problem) }, "\(track.problems)")
    #expect(track.points.first == GPXText.expected)
    #expect(track.points.last?.time == 1)
  }

  @Test func aFileThatEndsEarlyGivesWhatIsWhole() throws {
    let text = GPXText.file((0..<20).map { GPXText.point($0) })
    for cut in stride(from: 150, to: text.utf8.count - 6, by: 37) {
      let track = try read(String(decoding: text.utf8.prefix(cut), as: UTF8.self))
      #expect(track.problems["it ends early"]?.count == 1)
      #expect(track.points.allSatisfy { $0.latitude == 52.5 })
    }
  }

  @Test(arguments: ["", "x", "<html></html>", "<gpxx/>", "\u{1F}\u{8B}", "<!-- <gpx> -->"])
  func whatIsNoGPXIsRefused(text: String) {
    #expect(throws: SideFiles.Failure.self) { try read(text) }
  }

  @Test func aBillionLaughsAreNone() throws {
    let text =
      "<!DOCTYPE gpx [<!ENTITY a \"lol\"><!ENTITY b \"&a;&a;&a;\">]>" + GPXText.file([GPXText.point(0)], name: "&b;")
    let track = try read(text)
    #expect(track.name == "&b;")
    #expect(track.points.count == 1)
  }

  @Test func deepNestingTakesNoMemory() throws {
    let deep = String(repeating: "<a>", count: 200_000)
    let track = try read(GPXText.file([GPXText.point(0), deep, GPXText.point(1)]))
    #expect(track.points.count == 2)
  }

  @Test func invalidUTF8IsRepaired() throws {
    var bytes = Array(GPXText.file([GPXText.point(0)], name: "R?").utf8)
    let mark = try #require(bytes.firstRange(of: Array("R?".utf8))).lowerBound
    bytes[mark + 1] = 0xFF
    let track = try GPXReader(source: MemorySource(bytes)).run()
    #expect(track.name == "R\u{FFFD}")
  }

  @Test func millionsOfPointsAreCutAtAMillion() throws {
    let source = RepeatingSource(
      head: "<gpx><trk><trkseg>", unit: #"<trkpt lat="1" lon="2"/>"#, count: 2_000_000, tail: "</gpx>")
    let track = try GPXReader(source: source).run()
    #expect(track.points.count == GPXReader.maximumPoints)
    #expect(track.problems["more than a million points"]?.count == 1_000_000)
  }
}

/// A source that repeats a text.
final class RepeatingSource: ByteSource {
  private let unit: [UInt8]
  private var pending: [UInt8]
  private var tail: [UInt8]
  private var rest: Int

  init(head: String, unit: String, count: Int, tail: String) {
    let times = 1000
    precondition(count.isMultiple(of: times))
    self.unit = Array(String(repeating: unit, count: times).utf8)
    pending = Array(head.utf8)
    self.tail = Array(tail.utf8)
    rest = count / times
  }

  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) -> Int {
    if pending.isEmpty {
      if rest > 0 {
        pending = unit
        rest -= 1
      } else {
        swap(&pending, &tail)
      }
    }
    let length = min(count, pending.count)
    for index in 0..<length { buffer[index] = pending[index] }
    pending.removeFirst(length)
    return length
  }

  func close() {}
}
