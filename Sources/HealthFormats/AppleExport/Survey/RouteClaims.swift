import HealthModel

/// Whose a GPX file is that several routes name.
///
/// Apple names files by the minute in which a route began, so that of two routes of one minute only one has its file.
struct RouteClaims: Sendable {
  /// More files, and more routes that name one, than any export has.
  private static let limit = (files: 100_000, routes: 100)

  /// From when to when a route went, in whole seconds.
  struct Interval: Hashable, Sendable {
    var start: Int64
    var end: Int64

    init(start: Timestamp, end: Timestamp) {
      (self.start, self.end) = (start.seconds, end.seconds)
    }
  }

  /// By ``SideFiles/key(_:)`` of the file's path.
  private var intervals: [String: [Interval]] = [:]

  /// Notes that a route names a file.
  mutating func add(_ path: String, _ interval: Interval) {
    guard let key = SideFiles.key(path), intervals[key] != nil || intervals.count < Self.limit.files,
      intervals[key]?.count ?? 0 < Self.limit.routes
    else { return }
    intervals[key, default: []].append(interval)
  }

  /// Only the files that more than one route names: all that is asked for.
  var contested: RouteClaims {
    var claims = RouteClaims()
    claims.intervals = intervals.filter { $0.value.count > 1 }
    return claims
  }

  /// Whether the file is that of the route of `interval`, as far as its points say when they were: no other route that
  /// names it fits better.
  func gives(_ path: String, to interval: Interval, times: [Int64]) -> Bool {
    guard let key = SideFiles.key(path), let others = intervals[key], let first = times.min(), let last = times.max()
    else { return true }
    func fit(_ interval: Interval) -> (inside: Int, distance: Double) {
      let (start, end) = (Double(interval.start), Double(interval.end))
      // Both are whole seconds, of which either may be cut off.
      let inside = times.count { Double($0) >= start - 1 && Double($0) <= end + 1 }
      return (inside, abs(Double(first) - start) + abs(Double(last) - end))
    }
    let mine = fit(interval)
    return others.allSatisfy { other in
      let its = fit(other)
      return mine.inside == its.inside ? mine.distance <= its.distance : mine.inside > its.inside
    }
  }
}

extension GPXReader.Track {
  /// When its points were, in whole seconds, as far as they say so.
  var times: [Int64] {
    guard let start else { return [] }
    return points.compactMap { point in
      point.time.flatMap { Int64(exactly: ((Double(start.microseconds) / 1_000_000) + $0).rounded(.down)) }
    }
  }
}
