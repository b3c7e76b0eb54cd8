import HealthModel

/// The time intervals of the routes that name the same GPX file, used to decide which route the file belongs to.
///
/// Apple names files by the minute in which a route began. Of two routes of one minute, only one has its file.
struct RouteClaims: Sendable {
  /// The maximum number of files, and of routes per file, far more than any export has.
  private static let limit = (files: 100_000, routes: 100)

  /// The start and end of a route, in whole seconds.
  struct Interval: Hashable, Sendable {
    var start: Int64
    var end: Int64

    init(start: Timestamp, end: Timestamp) {
      (self.start, self.end) = (start.seconds, end.seconds)
    }
  }

  /// The intervals of the routes that name a file, by ``SideFiles/key(_:)`` of the file's path.
  private var intervals: [String: [Interval]] = [:]

  /// Records that a route names a file.
  mutating func add(_ path: String, _ interval: Interval) {
    guard let key = SideFiles.key(path), intervals[key] != nil || intervals.count < Self.limit.files,
      intervals[key]?.count ?? 0 < Self.limit.routes
    else { return }
    intervals[key, default: []].append(interval)
  }

  /// The claims on files that more than one route names. The reader needs no others.
  var contested: RouteClaims {
    var claims = RouteClaims()
    claims.intervals = intervals.filter { $0.value.count > 1 }
    return claims
  }

  /// Returns whether a file belongs to the route of `interval`: no other route that names the file fits the times of
  /// its points better.
  func gives(_ path: String, to interval: Interval, times: [Int64]) -> Bool {
    guard let key = SideFiles.key(path), let others = intervals[key], let first = times.min(), let last = times.max()
    else { return true }
    func fit(_ interval: Interval) -> (inside: Int, distance: Double) {
      let (start, end) = (Double(interval.start), Double(interval.end))
      // Both times are whole seconds, and either may have been truncated.
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
  /// The times of the points that have one, in whole seconds.
  var times: [Int64] {
    guard let start else { return [] }
    return points.compactMap { point in
      point.time.flatMap { Int64(exactly: ((Double(start.microseconds) / 1_000_000) + $0).rounded(.down)) }
    }
  }
}
