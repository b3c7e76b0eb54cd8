import HealthModel

/// `Workout` with its events, statistics, activities and routes.
extension AppleExportWriter {
  mutating func workout(_ sample: Sample) {
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
    for path in kept.routes { route(path, of: sample) }
    output.end()
  }

  private mutating func route(_ path: String, of workout: Sample) {
    output.start("WorkoutRoute")
    source(of: workout)
    output.attribute("creationDate", workout.created.map { text.date($0) })
    output.attribute("startDate", text.date(workout.start))
    output.attribute("endDate", text.date(workout.end))
    output.start("FileReference")
    output.attribute("path", path)
    output.end()
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
    for (name, value) in kept.statistics[statistics.type.rawValue] ?? [] where XMLOutput.isName(name) {
      output.attribute(name, value)
    }
    output.end()
  }

  /// In minutes, as Apple prints it; one that could not be read as it was.
  private mutating func duration(_ seconds: Double?, _ kept: inout KeptMetadata) {
    let (raw, unit) = (kept.take(attribute: "duration"), kept.take(attribute: "durationUnit"))
    output.attribute("duration", raw ?? seconds.map { text.number($0 / 60) })
    output.attribute("durationUnit", unit ?? (seconds == nil ? nil : "min"))
  }
}
