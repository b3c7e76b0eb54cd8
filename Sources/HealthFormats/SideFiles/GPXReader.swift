import HealthModel

/// Reads the track points of a GPX file (GPX 1.1, `http://www.topografix.com/GPX/1/1`), as Apple's export has them:
/// latitude and longitude as attributes in either order, elevation and time, and speed, course and accuracies as
/// extensions. The time of the file itself is that of the export and no content.
struct GPXReader: ~Copyable {
  struct Track {
    /// The program that wrote the file.
    var creator: String?
    var name: String?
    /// Their times are seconds after ``start``.
    var points: [RoutePoint] = []
    /// What was asked for, else the time of the first point that has one.
    var start: Timestamp?
    /// The time of the last point that has one.
    var end: Timestamp?
    /// What was odd, by name, how often and in which lines.
    var problems: [String: ImportReport.Finding] = [:]
  }

  /// Maximum points of a track: eleven days and a half with a point each second.
  static let maximumPoints = 1_000_000
  static let maximumBytes: Int64 = 512 << 20

  private var scanner: XMLScanner
  private var track = Track()
  private var dates = DateReader()
  private var point: RoutePoint?
  private var isInPoint = false
  private var isInTrack = false
  private var hasSegment = false

  /// - Parameter start: what the times of the points count from.
  init(source: any ByteSource, chunkSize: Int = 64 << 10, start: Timestamp? = nil) {
    scanner = XMLScanner(source: source, chunkSize: chunkSize)
    track.start = start
  }

  /// Throws ``ImportError`` for what cannot be read, and ``SideFiles/Failure`` for what is no GPX file.
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
      // Between the tags of elements that say nothing to a route.
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
    // Empty, as in `<ele></ele>`: nothing is said.
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
    // Only a hostile file has more kinds.
    let name = track.problems.count < 50 || track.problems[name] != nil ? name : "others"
    track.problems[name, default: .init()].add { scanner.tokenPosition.line }
  }

  /// `speed` of `gpxtpx:speed`.
  private static func localName(_ name: Bytes) -> Bytes {
    name.firstIndex(of: UInt8(ascii: ":")).map { name.dropFirst($0 + 1) } ?? name
  }

  private static func decoded(_ bytes: Bytes) -> String {
    var defects: TextDefects = []
    return XMLText.decode(bytes, defects: &defects)
  }
}
