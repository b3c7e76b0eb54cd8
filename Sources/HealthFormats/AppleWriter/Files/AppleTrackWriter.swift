import HealthModel

/// A writer of the GPX files in which Apple's export keeps the points of routes.
package struct AppleTrackWriter: Sendable {
  private let exported: Timestamp

  /// Creates a writer.
  ///
  /// - Parameter exported: the date of creation to write into the file.
  package init(exported: Timestamp) { self.exported = exported }

  /// Writes the beginning of a file, up to its first point.
  ///
  /// - Parameter number: the number of the file among those that a route names, from 1.
  package func begin(_ sample: Sample, file number: Int = 1, to bytes: inout [UInt8]) {
    let creator = Self.kept("hpeer.gpx.creator", number, sample) ?? Self.creator(of: sample)
    bytes.append("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<gpx version=\"1.1\"")
    if !creator.isEmpty {
      bytes.append(" creator=\"")
      XMLOutput.append(escaped: creator, to: &bytes)
      bytes.append("\"")
    }
    bytes.append(" xmlns=\"http://www.topografix.com/GPX/1/1\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"")
    bytes.append(
      " xsi:schemaLocation=\"http://www.topografix.com/GPX/1/1 http://www.topografix.com/GPX/1/1/gpx.xsd\">\n")
    let time = Timestamp(seconds: exported.seconds).iso8601
    bytes.append(contentsOf: "  <metadata>\n    <time>\(time)</time>\n  </metadata>\n  <trk>\n".utf8)
    if let name = Self.kept("hpeer.gpx.name", number, sample) {
      bytes.append("    <name>")
      XMLOutput.append(escaped: name, to: &bytes)
      bytes.append("</name>\n")
    }
    bytes.append("    <trkseg>\n")
  }

  /// Writes points.
  ///
  /// - Parameter start: the instant that the times of the points are relative to.
  /// - Returns: the number of points that were left out because their coordinates are not on Earth.
  package func append(_ points: some Sequence<RoutePoint>, start: Timestamp, to bytes: inout [UInt8]) -> Int {
    let text = AppleText(offset: 0)
    var lost = 0
    func element(_ name: String, _ value: Double?) {
      guard let value, value.isFinite, let number = text.decimal(value) else { return }
      bytes.append(contentsOf: "<\(name)>\(number)</\(name)>".utf8)
    }
    for point in points {
      guard abs(point.latitude) <= 90, abs(point.longitude) <= 180, let longitude = text.decimal(point.longitude),
        let latitude = text.decimal(point.latitude)
      else {
        lost += 1
        continue
      }
      bytes.append(contentsOf: "      <trkpt lon=\"\(longitude)\" lat=\"\(latitude)\">".utf8)
      element("ele", point.elevation)
      if let time = point.time, abs(time) < 0x1p40 {
        let (instant, overflow) = start.microseconds.addingReportingOverflow(Int64((time * 1_000_000).rounded()))
        if !overflow { bytes.append(contentsOf: "<time>\(Timestamp(microseconds: instant).iso8601)</time>".utf8) }
      }
      let others = [
        ("speed", point.speed), ("course", point.course), ("hAcc", point.horizontalAccuracy),
        ("vAcc", point.verticalAccuracy),
      ]
      if others.contains(where: { $0.1?.isFinite == true }) {
        bytes.append("<extensions>")
        for (name, value) in others { element(name, value) }
        bytes.append("</extensions>")
      }
      bytes.append("</trkpt>\n")
    }
    return lost
  }

  /// Writes the end of a file.
  package func end(to bytes: inout [UInt8]) { bytes.append("    </trkseg>\n  </trk>\n</gpx>\n") }

  /// Returns whether `sample` was read from a file, even one without points.
  package static func hadFile(_ sample: Sample) -> Bool {
    sample.metadata.keys.contains { $0.begins(with: "hpeer.gpx.") }
  }

  /// Returns whether `sample` continues a route that was split because of its many points.
  package static func continues(_ part: Sample, _ sample: Sample) -> Bool {
    guard case .workoutRoute(let first) = part.payload, case .workoutRoute(let second) = sample.payload,
      first.points.count == RouteParts.pointsPerSample, first.path == second.path, first.workout == second.workout
    else { return false }
    var (head, other) = (part, sample)
    (head.payload, other.payload) = (.workoutRoute(WorkoutRoute()), .workoutRoute(WorkoutRoute()))
    head.uuid = other.uuid
    return head == other
  }

  /// Returns the creator of a file. A track that no workout names has its file's creator as its source.
  private static func creator(of sample: Sample) -> String {
    guard case .workoutRoute(let route) = sample.payload, route.workout == nil else { return "Apple Health Export" }
    return sample.source.name
  }

  private static func kept(_ key: String, _ number: Int, _ sample: Sample) -> String? {
    guard case .string(let text)? = sample.metadata[number == 1 ? key : "\(key)#\(number)"] else { return nil }
    return text
  }
}
