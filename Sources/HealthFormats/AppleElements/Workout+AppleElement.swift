import HealthModel

/// Reads and writes `Workout` with its events, statistics and activities. Its routes are separate samples.
extension Workout: AppleElement {
  static var section: AppleExportWriter.Section { .workouts }
  static var elementName: String { "Workout" }
  static var typeWithoutName: SampleType { .workout }

  func write(_ sample: Sample, related: [Sample], to writer: inout AppleExportWriter) -> Bool {
    guard writer.beginWorkout(sample) else { return false }
    for route in related { writer.append(route: route) }
    writer.endWorkout()
    return true
  }

  static func read(_ element: RawElement, into draft: inout Draft, _ context: inout ReadingContext) {
    var workout = Workout(activityType: .name(""))
    if let activity = draft.attributes.take("workoutActivityType") {
      workout.activityType = WorkoutActivityType(exported: activity)
    } else {
      context.remark("Workout without a workoutActivityType")
    }
    workout.duration = draft.attributes.takeDuration()
    for name in draft.attributes.rest.map(\.name) where name.begins(with: "total") && !name.ends(with: "Unit") {
      guard workout.totals[name] == nil, let value = draft.attributes.takeNumber(name) else { continue }
      workout.totals[name] = Quantity(value, draft.attributes.take(name + "Unit") ?? "")
    }
    draft.metadata.keep(rest: draft.attributes, of: elementName, &context)
    var counts: [SampleType: Int] = [:]
    for child in element.children {
      switch child.name {
      case "MetadataEntry": draft.metadata.read(child, &context)
      case "WorkoutEvent":
        if let event = event(child, in: &draft.metadata, &context) { workout.events.append(event) }
      case "WorkoutStatistics":
        if let statistics = statistics(child, counted: &counts, in: &draft.metadata, &context) {
          workout.statistics.append(statistics)
        }
      case "WorkoutActivity":
        if let activity = activity(child, in: &draft.metadata, &context) { workout.activities.append(activity) }
      // The route is a separate sample.
      case "WorkoutRoute" where child.route != nil: continue
      default: draft.metadata.keep(child, of: elementName, &context)
      }
    }
    draft.sample.payload = .workout(workout)
  }

  private static func event(
    _ element: RawElement, in outer: inout MetadataEntries, _ context: inout ReadingContext
  ) -> WorkoutEvent? {
    context.noticeLine = element.line
    var attributes = element.attributes
    guard let date = attributes.takeDate("date", &context.keys) else {
      context.remark("WorkoutEvent with an unreadable date")
      outer.keep(element, of: elementName, &context)
      return nil
    }
    var event = WorkoutEvent(type: attributes.take("type") ?? "", date: date, duration: attributes.takeDuration())
    var entries = MetadataEntries()
    entries.keep(rest: attributes, of: "WorkoutEvent", &context)
    for child in element.children {
      if child.name == "MetadataEntry" {
        entries.read(child, &context)
      } else {
        entries.keep(child, of: "WorkoutEvent", &context)
      }
    }
    context.noticeLine = element.line
    event.metadata = entries.metadata(&context)
    return event
  }

  /// - Parameter counts: the number of statistics of each type so far, in the element that this one is in.
  private static func statistics(
    _ element: RawElement, counted counts: inout [SampleType: Int], in entries: inout MetadataEntries,
    _ context: inout ReadingContext
  ) -> WorkoutStatistics? {
    context.noticeLine = element.line
    var attributes = element.attributes
    guard let type = attributes.take("type") else {
      context.remark("WorkoutStatistics without a type")
      entries.keep(element, of: elementName, &context)
      return nil
    }
    var statistics = WorkoutStatistics(type: SampleType(type))
    statistics.start = attributes.takeDate("startDate", &context.keys)
    // The first releases of iOS 16 wrote the end as a second startDate.
    statistics.end = attributes.takeDate("endDate", &context.keys) ?? attributes.takeDate("startDate", &context.keys)
    statistics.average = attributes.takeNumber("average")
    statistics.minimum = attributes.takeNumber("minimum")
    statistics.maximum = attributes.takeNumber("maximum")
    statistics.sum = attributes.takeNumber("sum")
    statistics.unit = attributes.take("unit")
    counts[statistics.type, default: 0] += 1
    if attributes.isEmpty, element.children.isEmpty { return statistics }
    let place = PreservedKey.place("WorkoutStatistics.\(type)", counts[statistics.type] ?? 1)
    entries.keep(rest: attributes, of: "WorkoutStatistics", prefix: "\(place).", &context)
    for child in element.children { entries.keep(child, of: "WorkoutStatistics", at: place, &context) }
    return statistics
  }

  private static func activity(
    _ element: RawElement, in outer: inout MetadataEntries, _ context: inout ReadingContext
  ) -> WorkoutActivity? {
    context.noticeLine = element.line
    var attributes = element.attributes
    guard let start = attributes.takeDate("startDate", &context.keys) else {
      context.remark("WorkoutActivity with an unreadable startDate")
      outer.keep(element, of: elementName, &context)
      return nil
    }
    var activity = WorkoutActivity(uuid: attributes.take("uuid") ?? "", start: start)
    activity.end = attributes.takeDate("endDate", &context.keys)
    activity.duration = attributes.takeDuration()
    var entries = MetadataEntries()
    entries.keep(rest: attributes, of: "WorkoutActivity", &context)
    var counts: [SampleType: Int] = [:]
    for child in element.children {
      switch child.name {
      case "MetadataEntry": entries.read(child, &context)
      case "WorkoutEvent":
        if let event = event(child, in: &entries, &context) { activity.events.append(event) }
      case "WorkoutStatistics":
        if let statistics = statistics(child, counted: &counts, in: &entries, &context) {
          activity.statistics.append(statistics)
        }
      default: entries.keep(child, of: "WorkoutActivity", &context)
      }
    }
    context.noticeLine = element.line
    activity.metadata = entries.metadata(&context)
    return activity
  }
}
