import HealthModel

/// A reader of GPX files (GPX 1.1, `http://www.topografix.com/GPX/1/1`), as Apple's export has them: latitude and
/// longitude as attributes in either order; elevation and time; speed, course and accuracies as extensions. The time
/// of the file itself is that of the export, and is ignored.
struct GPXReader: ~Copyable {
  struct Track {
    /// The program that wrote the file.
    var creator: String?
    var name: String?
    /// The points. Their times are seconds after ``start``.
    var points: [RoutePoint] = []
    /// The instant that the times of the points are relative to: the one passed to the reader, or else the time of
    /// the first point with a time.
    var start: Timestamp?
    /// The time of the last point that has one.
    var end: Timestamp?
    /// The problems found, by kind.
    var problems: [String: ImportReport.Finding] = [:]
  }

  /// The maximum number of points of a track: eleven and a half days with a point each second.
  static let maximumPoints = 1_000_000
  static let maximumBytes: Int64 = 512 << 20

  private var scanner: XMLScanner
  private var track = Track()
  private var dates = DateReader()
  private var point: RoutePoint?
  private var isInPoint = false
  private var isInTrack = false
  private var hasSegment = false

  /// Creates a reader.
  ///
  /// - Parameter start: the instant that the times of the points are relative to; `nil` for the time of the first
  ///   point.
  init(source: any ByteSource, chunkSize: Int = 64 << 10, start: Timestamp? = nil) {
    scanner = XMLScanner(source: source, chunkSize: chunkSize)
    track.start = start
  }

  /// Reads the track.
  ///
  /// - Throws: ``ImportError`` if reading fails, and ``SideFiles/Failure`` for a file that is not a GPX file.
  consuming func run() throws -> Track {
    guard try scanner.skipProlog(root: "gpx", comment: { _ in }) else {
      throw SideFiles.Failure.unusable("it is no GPX track")
    }
    var isWhole = false
    reading: while true {
      switch try scanner.next() {
      case .open: try open()
      case .close:
        let name = Self.localName(scanner.name)
        if name == "gpx" { isWhole = true }
        if name == "trk" { isInTrack = false }
        if name == "trkpt" { finishPoint() }
      case .malformed: problem("a malformed tag")
      // Text between the tags of elements that are not part of a route.
      case .text: continue
      case .end: break reading
      }
    }
    finishPoint()
    if !isWhole { problem("it ends early") }
    return track
  }

  private mutating func open() throws {
    let name = Self.localName(scanner.name)
    switch name.count {
    case 3 where name == "gpx":
      for index in 0..<scanner.attributeCount where scanner.attribute(index).name == "creator" {
        track.creator = Self.decoded(scanner.attribute(index).value)
      }
    case 3 where name == "trk": isInTrack = !scanner.isSelfClosing
    case 4 where name == "name" && isInTrack && !isInPoint && track.name == nil && !scanner.isSelfClosing:
      track.name = try scanner.text(limit: 1024).map { Self.decoded($0) }
    case 5 where name == "trkpt": openPoint()
    case 6 where name == "trkseg":
      if hasSegment { problem("more than one segment") }
      hasSegment = true
    case 3 where name == "wpt", 5 where name == "rtept": problem("a waypoint, which is no part of a route")
    default: if isInPoint, !scanner.isSelfClosing { try readField() }
    }
  }

  private mutating func openPoint() {
    finishPoint()
    isInPoint = true
    var (latitude, longitude): (Double?, Double?)
    for index in 0..<scanner.attributeCount {
      let attribute = scanner.attribute(index)
      if attribute.name == "lat" { latitude = number(attribute.value) }
      if attribute.name == "lon" { longitude = number(attribute.value) }
    }
    guard let latitude, let longitude, abs(latitude) <= 90, abs(longitude) <= 180 else {
      problem("a point without a place on Earth")
      return
    }
    point = RoutePoint(latitude: latitude, longitude: longitude)
    if scanner.isSelfClosing { finishPoint() }
  }

  private mutating func readField() throws {
    let name = Self.localName(scanner.name)
    enum Field { case elevation, time, speed, course, horizontal, vertical }
    let field: Field
    switch name.count {
    case 3 where name == "ele": field = .elevation
    case 4 where name == "time": field = .time
    case 4 where name == "hAcc": field = .horizontal
    case 4 where name == "vAcc": field = .vertical
    case 5 where name == "speed": field = .speed
    case 6 where name == "course": field = .course
    case 10 where name == "extensions": return
    default:
      let text = Self.decoded(name)
      problem("\(text.count > 40 ? "an element with a long name" : text) is unknown")
      return
    }
    guard let text = try scanner.text(limit: 256)?.trimmed else {
      problem("a text that is too long")
      return
    }
    // An empty element, such as `<ele></ele>`, has no value.
    if text.count == 0 { return }
    if field == .time { return readTime(text) }
    let number = number(text)
    switch field {
    case .time: break
    case .elevation: point?.elevation = number
    case .speed: point?.speed = number
    case .course: point?.course = number
    case .horizontal: point?.horizontalAccuracy = number
    case .vertical: point?.verticalAccuracy = number
    }
  }

  private mutating func readTime(_ text: Bytes) {
    guard let reading = dates.read(text) else {
      problem("a time that cannot be read")
      return
    }
    let start = track.start ?? reading.date
    let (difference, overflow) = reading.date.microseconds.subtractingReportingOverflow(start.microseconds)
    guard point != nil, !overflow else { return }
    track.start = start
    track.end = reading.date
    point?.time = Double(difference) / 1_000_000
  }

  private mutating func finishPoint() {
    isInPoint = false
    guard let point = point.take() else { return }
    guard track.points.count < Self.maximumPoints else { return problem("more than a million points") }
    track.points.append(point)
  }

  private mutating func number(_ text: Bytes) -> Double? {
    guard let reading = DecimalReader.read(text.trimmed) else {
      problem("a number that cannot be read")
      return nil
    }
    if reading.hasComma { problem("a decimal comma") }
    return reading.value
  }

  private mutating func problem(_ name: String) {
    // Only a hostile file has more kinds of problems.
    let name = track.problems.count < 50 || track.problems[name] != nil ? name : "others"
    track.problems[name, default: .init()].add { scanner.tokenPosition.line }
  }

  /// Returns the name without its prefix: `speed` for `gpxtpx:speed`.
  private static func localName(_ name: Bytes) -> Bytes {
    name.firstIndex(of: UInt8(ascii: ":")).map { name.dropFirst($0 + 1) } ?? name
  }

  private static func decoded(_ bytes: Bytes) -> String {
    var defects: TextDefects = []
    return XMLText.decode(bytes, defects: &defects)
  }
}
