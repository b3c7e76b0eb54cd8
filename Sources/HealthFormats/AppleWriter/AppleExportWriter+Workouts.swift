import HealthModel

/// Writes `Workout` with its events, statistics and activities.
extension AppleExportWriter {
  /// Begins a workout. ``append(route:)`` adds routes to it until ``endWorkout()``.
  ///
  /// - Returns: false, with nothing written, for a sample that is not a workout.
  public mutating func beginWorkout(_ sample: Sample) -> Bool {
    guard case .workout(let workout) = sample.payload else { return false }
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
    attributes(&kept)
    entries(&kept)
    for event in workout.events { self.event(event) }
    for activity in workout.activities { self.activity(activity) }
    statistics(workout.statistics, &kept)
    openWorkout = kept
    return true
  }

  /// Ends the current workout.
  public mutating func endWorkout() {
    endRoute()
    guard var kept = openWorkout.take() else { return }
    finish(&kept)
  }

  private mutating func event(_ event: WorkoutEvent) {
    var kept = KeptMetadata(event.metadata, text)
    output.start("WorkoutEvent")
    output.attribute("type", event.type)
    output.attribute("date", text.date(event.date))
    duration(event.duration, &kept)
    attributes(&kept)
    entries(&kept)
    finish(&kept)
  }

  private mutating func activity(_ activity: WorkoutActivity) {
    var kept = KeptMetadata(activity.metadata, text)
    output.start("WorkoutActivity")
    output.attribute("uuid", activity.uuid)
    output.attribute("startDate", text.date(activity.start))
    output.attribute("endDate", kept.take(attribute: "endDate") ?? activity.end.map { text.date($0) })
    duration(activity.duration, &kept)
    attributes(&kept)
    entries(&kept)
    for event in activity.events { self.event(event) }
    statistics(activity.statistics, &kept)
    finish(&kept)
  }

  private mutating func statistics(_ all: [WorkoutStatistics], _ kept: inout KeptMetadata) {
    var numbers: [SampleType: Int] = [:]
    for statistics in all {
      numbers[statistics.type, default: 0] += 1
      let place = PreservedKey.place("WorkoutStatistics.\(statistics.type.rawValue)", numbers[statistics.type] ?? 1)
      self.statistics(statistics, at: place, &kept)
    }
  }

  private mutating func statistics(
    _ statistics: WorkoutStatistics, at place: String, _ kept: inout KeptMetadata
  ) {
    output.start("WorkoutStatistics")
    output.attribute("type", statistics.type.rawValue)
    output.attribute("startDate", statistics.start.map { text.date($0) })
    output.attribute("endDate", statistics.end.map { text.date($0) })
    output.attribute("average", statistics.average.map { text.number($0) })
    output.attribute("minimum", statistics.minimum.map { text.number($0) })
    output.attribute("maximum", statistics.maximum.map { text.number($0) })
    output.attribute("sum", statistics.sum.map { text.number($0) })
    output.attribute("unit", statistics.unit)
    unknown(at: place, &kept)
    output.end()
  }

  /// Writes a duration in minutes, as Apple does. A duration that could not be read is written unchanged.
  private mutating func duration(_ seconds: Double?, _ kept: inout KeptMetadata) {
    let (raw, unit) = (kept.take(attribute: "duration"), kept.take(attribute: "durationUnit"))
    output.attribute("duration", raw ?? seconds.map { text.number($0 / 60) })
    output.attribute("durationUnit", unit ?? (seconds == nil ? nil : "min"))
  }
}
