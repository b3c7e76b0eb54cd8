import HealthModel

/// Writes `WorkoutRoute` elements inside their workouts.
extension AppleExportWriter {
  /// The route being written. If it was split into several samples, these follow each other.
  struct OpenRoute {
    /// The route's sample without its points.
    var sample: Sample
    var points: Int
    var kept: KeptMetadata
  }

  /// Writes a route of the current workout. The parts of a long route must be passed one after the other.
  ///
  /// - Returns: false for a sample that is not a route.
  @discardableResult
  public mutating func append(route sample: Sample) -> Bool {
    guard case .workoutRoute(let route) = sample.payload else { return false }
    var head = sample
    head.uuid = .undecided
    head.payload = .workoutRoute(WorkoutRoute(path: route.path))
    let isPart = openRoute.map { $0.sample == head && $0.points % RouteParts.pointsPerSample == 0 && $0.points > 0 }
    if isPart != true {
      endRoute()
      openRoute = OpenRoute(sample: head, points: 0, kept: beginRoute(sample, path: route.path))
    }
    openRoute?.points += route.points.count
    if route.path == nil { for point in route.points { location(point, start: sample.start) } }
    return true
  }

  private mutating func beginRoute(_ sample: Sample, path: String?) -> KeptMetadata {
    var kept = KeptMetadata(sample.metadata, text)
    output.start("WorkoutRoute")
    source(of: sample)
    dates(of: sample, &kept)
    attributes(&kept)
    entries(&kept)
    for (index, path) in (path?.split(separator: "\n", omittingEmptySubsequences: false) ?? []).enumerated() {
      output.start("FileReference")
      output.attribute("path", String(path))
      unknown(at: PreservedKey.place("FileReference", index + 1), &kept)
      output.end()
    }
    return kept
  }

  private mutating func location(_ point: RoutePoint, start: Timestamp) {
    output.start("Location")
    output.attribute("date", point.date(from: start).map { text.date($0) })
    let numbers: [(String, Double?)] = [
      ("latitude", point.latitude), ("longitude", point.longitude), ("altitude", point.elevation),
      ("horizontalAccuracy", point.horizontalAccuracy), ("verticalAccuracy", point.verticalAccuracy),
      ("course", point.course), ("speed", point.speed),
    ]
    for (name, value) in numbers { output.attribute(name, value.map { text.number($0) }) }
    output.end()
  }

  mutating func endRoute() {
    guard var route = openRoute.take() else { return }
    finish(&route.kept)
  }
}

extension RoutePoint {
  /// Returns the date of the point.
  ///
  /// - Parameter start: the start of the sample.
  /// - Returns: `nil` if the point has no time, or one beyond the range of ``Timestamp``.
  func date(from start: Timestamp) -> Timestamp? {
    guard let time, abs(time) < 0x1p40 else { return nil }
    let (date, overflow) = start.microseconds.addingReportingOverflow(Int64((time * 1_000_000).rounded()))
    return overflow ? nil : Timestamp(microseconds: date)
  }
}

extension WorkoutRoute: AppleWritable {
  static var section: AppleExportWriter.Section { .routes }
  var hasPartInFile: Bool { path != nil && !points.isEmpty }

  /// Returns false, because ``AppleExportWriter/append(route:)`` writes routes, inside their workouts.
  func write(_ sample: Sample, related: [Sample], to writer: inout AppleExportWriter) -> Bool { false }
}
