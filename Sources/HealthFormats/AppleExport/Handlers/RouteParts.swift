import HealthModel

/// Divides routes into samples that can travel.
struct RouteParts {
  /// A route of more points is divided among several samples.
  static let pointsPerSample = 200_000
  /// Points of routes that may share their keys, which are in memory until the end.
  private static let maximumHeldPoints = 500_000

  private var heldPoints = 0

  /// - Parameters:
  ///   - sample: what all parts have but the payload.
  ///   - isShared: whether another may have the same key.
  mutating func add(
    _ route: WorkoutRoute, of sample: Sample, as kind: ElementKind, isShared: Bool, _ context: inout ReadingContext
  ) throws {
    var sample = sample
    if route.points.isEmpty {
      sample.payload = .workoutRoute(route)
      try context.delivery.add(sample, as: kind.withoutPoints, isShared: isShared)
      return
    }
    if isShared {
      heldPoints += route.points.count
      guard heldPoints <= Self.maximumHeldPoints else {
        return context.skip("WorkoutRoute: more routes with equal dates than can be told apart")
      }
    }
    var part = 1
    for start in stride(from: 0, to: route.points.count, by: Self.pointsPerSample) {
      let points = route.points[start..<min(start + Self.pointsPerSample, route.points.count)]
      sample.payload = .workoutRoute(WorkoutRoute(workout: route.workout, path: route.path, points: Array(points)))
      try context.delivery.add(sample, as: kind.part(part), isShared: isShared)
      part += 1
    }
  }
}
