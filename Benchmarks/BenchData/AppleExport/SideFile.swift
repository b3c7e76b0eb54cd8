import Foundation
import HealthModel
import TestSupport

/// A file beside the XML, generated on demand.
final class SideFile {
  /// The path within the folder `apple_health_export`.
  let path: String
  private var content: (() -> [UInt8])?

  private init(path: String, content: @escaping () -> [UInt8]) {
    self.path = path
    self.content = content
  }

  /// Returns the complete content at the first call, then nothing.
  func next() -> [UInt8] {
    defer { content = nil }
    return content?() ?? []
  }

  static func all(of export: MadeExport) -> [SideFile] {
    let routes = Route.all(of: export).map { route in
      SideFile(path: route.path) { route.gpx(seed: export.seed, made: export.made) }
    }
    let recordings = (0..<max(1, export.records / 200_000)).map { index in
      let recorded = HealthHistory.begin + HealthHistory.span - Int64(index + 1) * 20 * 86_400 + 3725
      return SideFile(path: "electrocardiograms/ecg_\(ExportText.day(recorded / 86_400)).csv") {
        electrocardiogram(recorded, export)
      }
    }
    let document = SideFile(path: "export_cda.xml") {
      Array(
        """
        <?xml version="1.0"?>
        <ClinicalDocument xmlns="urn:hl7-org:v3"><title>Health Data Export</title></ClinicalDocument>

        """.utf8)
    }
    let results = ClinicalRecord.all(of: export).map { record in SideFile(path: record.path) { record.json } }
    return [document] + routes + recordings + results
  }

  /// Returns half a minute of an electrocardiogram at 512 Hz.
  private static func electrocardiogram(_ recorded: Int64, _ export: MadeExport) -> [UInt8] {
    var text = ExportText(offset: export.offset)
    text.add("Name,Robin Example\nDate of Birth,\"May 17, 1986\"\nRecorded Date,")
    text.add(recorded)
    text.add(
      """

      Classification,Sinus Rhythm
      Symptoms,
      Software Version,1.90
      Device,"Watch6,2"
      Sample Rate,512 hertz


      Lead,Lead I
      Unit,µV


      """)
    var random = SeededGenerator(seed: UInt64(bitPattern: recorded) &+ export.seed)
    for index in 0..<15_360 {
      let beat = index % 420 < 12 ? 700.0 : 0
      text.add(((beat + Double.random(in: -60...60, using: &random)) * 1000).rounded() / 1000)
      text.add("\n")
    }
    return text.take()
  }
}

/// The route of a workout.
struct Route: Sendable {
  /// The start of the workout, in seconds since 1970.
  let start: Int64
  let end: Int64
  /// The path with the local time in its name, such as `workout-routes/route_2019-09-24_1.07pm.gpx`.
  let path: String

  /// Returns a route for every tenth workout.
  static func all(of export: MadeExport) -> [Route] {
    guard let kind = SeriesKind.all.firstIndex(where: { $0.type == .workout }) else { return [] }
    var (series, count) = export.series(kind)
    if export.has(.new) { count += max(1, count / 100) }
    return (0..<count).compactMap { index in
      guard let workout = series.next().last, index.isMultiple(of: 10) else { return nil }
      return Route(start: workout.start.seconds, end: workout.end.seconds)
    }
  }

  private init(start: Int64, end: Int64) {
    (self.start, self.end) = (start, end)
    let local = start + WallClock.offset(at: start)
    let (hour, minute) = (local % 86_400 / 3600, local % 3600 / 60)
    let clock = "\((hour + 11) % 12 + 1).\(minute < 10 ? "0" : "")\(minute)\(hour < 12 ? "am" : "pm")"
    path = "workout-routes/route_\(ExportText.day(local / 86_400))_\(clock).gpx"
  }

  /// Returns a GPX track with a point every five seconds, up to 1,000 points.
  func gpx(seed: UInt64, made: Int64) -> [UInt8] {
    var text = ExportText(offset: 0)
    var random = SeededGenerator(seed: UInt64(bitPattern: start) &+ seed)
    text.add(
      """
      <?xml version="1.0" encoding="UTF-8"?>
      <gpx version="1.1" creator="Apple Health Export" xmlns="http://www.topografix.com/GPX/1/1" \
      xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
      xsi:schemaLocation="http://www.topografix.com/GPX/1/1 http://www.topografix.com/GPX/1/1/gpx.xsd">
        <metadata>
          <time>\(Timestamp(seconds: made).iso8601)</time>
        </metadata>
        <trk>
          <name>Route</name>
          <trkseg>

      """)
    var (longitude, latitude, height) = (13.4, 52.5, 34.0)
    for index in 0..<min(1_000, (end - start) / 5) {
      longitude += Double.random(in: -0.0001...0.0002, using: &random)
      latitude += Double.random(in: -0.0001...0.0001, using: &random)
      height += Double.random(in: -0.2...0.2, using: &random)
      let numbers = [2.4, 180, 4.1, 3.2].map { $0 * Double.random(in: 0.5...1.5, using: &random) }
      text.add(
        "      <trkpt lon=\"\(Self.six(longitude))\" lat=\"\(Self.six(latitude))\"><ele>\(Self.six(height))</ele>")
      text.add("<time>\(Timestamp(seconds: start + index * 5).iso8601)</time><extensions>")
      for (name, number) in zip(["speed", "course", "hAcc", "vAcc"], numbers) {
        text.add("<\(name)>\(Self.six(number))</\(name)>")
      }
      text.add("</extensions></trkpt>\n")
    }
    text.add("    </trkseg>\n  </trk>\n</gpx>\n")
    return text.take()
  }

  /// Returns a number with six decimals.
  private static func six(_ value: Double) -> String {
    let millionths = Int64((value * 1_000_000).rounded())
    let fraction = String(millionths.magnitude % 1_000_000)
    let zeros = String(repeating: "0", count: 6 - fraction.count)
    return "\(millionths < 0 ? "-" : "")\(millionths.magnitude / 1_000_000).\(zeros)\(fraction)"
  }
}
