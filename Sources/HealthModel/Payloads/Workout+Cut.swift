extension Workout: ScopedPayload {
  package var statements: Int {
    totals.count + statistics.count + activities.reduce(0) { $0 + $1.statistics.count }
  }

  package mutating func hide(from cut: SampleRedaction) {
    let distances = distances
    totals = totals.filter { name, _ in
      switch name {
      case "totalDistance": distances.allSatisfy(cut.scope.passes)
      default: cut.scope.types == nil || Self.totals[name].map(cut.scope.passes) ?? false
      }
    }
    cut.hide(&statistics)
    cut.hide(&events)
    for index in activities.indices {
      cut.hide(&activities[index].statistics)
      cut.hide(&activities[index].metadata)
      cut.hide(&activities[index].events)
    }
  }

  /// The quantity types that the totals of a workout sum up, by attribute name.
  private static let totals = [
    "totalEnergyBurned": SampleType("HKQuantityTypeIdentifierActiveEnergyBurned"),
    "totalFlightsClimbed": SampleType("HKQuantityTypeIdentifierFlightsClimbed"),
    "totalSwimmingStrokeCount": SampleType("HKQuantityTypeIdentifierSwimmingStrokeCount"),
  ]

  /// The distance types that `totalDistance` may include: those among the statistics of the workout and of its activities,
  /// or every distance type if the workout itself has no distance statistics.
  private var distances: Set<SampleType> {
    let sums = Set(statistics.map(\.type)).intersection(Self.distances)
    if sums.isEmpty { return Self.distances }
    return sums.union(Self.distances.intersection(activities.flatMap(\.statistics).map(\.type)))
  }

  private static let distances = Set(
    [
      "WalkingRunning", "Cycling", "Swimming", "Wheelchair", "DownhillSnowSports", "CrossCountrySkiing", "PaddleSports",
      "Rowing", "SkatingSports",
    ].map { SampleType("HKQuantityTypeIdentifierDistance\($0)") })
}

extension SampleRedaction {
  fileprivate func hide(_ statistics: inout [WorkoutStatistics]) {
    statistics.removeAll { !shows($0.type, $0.start) }
  }

  fileprivate func hide(_ events: inout [WorkoutEvent]) {
    for index in events.indices { hide(&events[index].metadata) }
  }
}
