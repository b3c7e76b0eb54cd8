import HealthModel

/// `Workout` with its events, statistics, activities and routes.
extension AppleExportWriter {
  mutating func workout(_ sample: Sample, routes: [Sample]) {
    guard case .workout(let workout) = sample.payload else { return }
    var kept = KeptMetadata(sample.metadata, text)
    output.start("Workout")
    output.attribute("workoutActivityType", workout.activityType.exported)
    duration(workout.duration, &kept)
    let known = ["totalDistance", "totalEnergyBurned"]
    let names = known.filter { workout.totals[$0] != nil } + workout.totals.keys.filter { !known.contains($0) }.sorted()
    for name in names where XMLOutput.isName(name) {
      guard let total = workout.totals[name] else { continue }
      output.attribute(name, text.number(total.value))
      output.attribute(name + "Unit", total.unit.isEmpty ? nil : total.unit)
    }
    source(of: sample)
    dates(of: sample, &kept)
    attributes(kept)
    entries(kept)
    for event in workout.events { self.event(event) }
    for activity in workout.activities { self.activity(activity) }
    for statistics in workout.statistics { self.statistics(statistics, kept) }
    // A long route comes in parts.
    var parts: [Sample] = []
    for route in routes.sorted(by: { ($0.start, $0.uuid.uuidString) < ($1.start, $1.uuid.uuidString) }) {
      let isPart = parts.contains { $0.start == route.start && $0.end == route.end && $0.path == route.path }
      if isPart, route.path != nil { continue }
      parts.append(route)
      self.route(route)
    }
    output.end()
  }

  /// Its points are in the file that it names, or else here.
  private mutating func route(_ sample: Sample) {
    guard case .workoutRoute(let route) = sample.payload else { return }
    var kept = KeptMetadata(sample.metadata, text)
    output.start("WorkoutRoute")
    source(of: sample)
    dates(of: sample, &kept)
    attributes(kept)
    entries(kept)
    for path in route.path?.split(separator: "\n") ?? [] {
      output.start("FileReference")
      output.attribute("path", String(path))
      nested("FileReference", kept)
      output.end()
    }
    if route.path == nil { for point in route.points { location(point, of: sample) } }
    output.end()
  }

  private mutating func location(_ point: RoutePoint, of sample: Sample) {
    output.start("Location")
    if let time = point.time, abs(time) < 1e9 {
      let instant = sample.start.microseconds.addingReportingOverflow(Int64((time * 1_000_000).rounded()))
      if !instant.overflow { output.attribute("date", text.date(Timestamp(microseconds: instant.partialValue))) }
    }
    let fields = [
      ("latitude", point.latitude), ("longitude", point.longitude), ("altitude", point.elevation),
      ("horizontalAccuracy", point.horizontalAccuracy), ("verticalAccuracy", point.verticalAccuracy),
      ("course", point.course), ("speed", point.speed),
    ]
    for (name, value) in fields { output.attribute(name, value.map { text.number($0) }) }
    output.end()
  }

  private mutating func event(_ event: WorkoutEvent) {
    var kept = KeptMetadata(event.metadata, text)
    output.start("WorkoutEvent")
    output.attribute("type", event.type)
    output.attribute("date", text.date(event.date))
    duration(event.duration, &kept)
    attributes(kept)
    entries(kept)
    output.end()
  }

  private mutating func activity(_ activity: WorkoutActivity) {
    var kept = KeptMetadata(activity.metadata, text)
    output.start("WorkoutActivity")
    output.attribute("uuid", activity.uuid)
    output.attribute("startDate", text.date(activity.start))
    output.attribute("endDate", kept.take(attribute: "endDate") ?? activity.end.map { text.date($0) })
    duration(activity.duration, &kept)
    attributes(kept)
    entries(kept)
    for event in activity.events { self.event(event) }
    for statistics in activity.statistics { self.statistics(statistics, kept) }
    output.end()
  }

  private mutating func statistics(_ statistics: WorkoutStatistics, _ kept: KeptMetadata) {
    output.start("WorkoutStatistics")
    output.attribute("type", statistics.type.rawValue)
    output.attribute("startDate", statistics.start.map { text.date($0) })
    output.attribute("endDate", statistics.end.map { text.date($0) })
    output.attribute("average", statistics.average.map { text.number($0) })
    output.attribute("minimum", statistics.minimum.map { text.number($0) })
    output.attribute("maximum", statistics.maximum.map { text.number($0) })
    output.attribute("sum", statistics.sum.map { text.number($0) })
    output.attribute("unit", statistics.unit)
    nested("WorkoutStatistics.\(statistics.type.rawValue)", kept)
    output.end()
  }

  /// In minutes, as Apple prints it; one that could not be read as it was.
  private mutating func duration(_ seconds: Double?, _ kept: inout KeptMetadata) {
    let (raw, unit) = (kept.take(attribute: "duration"), kept.take(attribute: "durationUnit"))
    output.attribute("duration", raw ?? seconds.map { text.number($0 / 60) })
    output.attribute("durationUnit", unit ?? (seconds == nil ? nil : "min"))
  }
}

extension Sample {
  fileprivate var path: String? {
    if case .workoutRoute(let route) = payload { route.path } else { nil }
  }
}
