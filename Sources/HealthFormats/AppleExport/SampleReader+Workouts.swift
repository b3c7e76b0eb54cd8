import HealthModel

/// `Workout` with its events, statistics and activities.
extension SampleReader {
  mutating func readWorkout(_ children: [RawElement], into draft: inout Draft) {
    var workout = Workout(activityType: .name(""))
    if let activity = draft.attributes.take("workoutActivityType") {
      workout.activityType = WorkoutActivityType(exported: activity)
    } else {
      remark("Workout without a workoutActivityType")
    }
    workout.duration = duration(&draft.attributes)
    for name in draft.attributes.rest.map(\.name) where name.hasPrefix("total") && !name.hasSuffix("Unit") {
      guard workout.totals[name] == nil, let text = draft.attributes.rest.first(where: { $0.name == name })?.value,
        let value = DecimalReader.read(text)?.value
      else { continue }
      _ = draft.attributes.take(name)
      workout.totals[name] = Quantity(value, draft.attributes.take(name + "Unit") ?? "")
    }
    keepRest(of: draft.attributes, of: "Workout", in: &draft.metadata)
    var paths: [String] = []
    for child in children {
      switch child.name {
      case "MetadataEntry":
        if let entry = entry(child) { draft.metadata.append(entry) }
      case "WorkoutEvent":
        if let event = event(child) { workout.events.append(event) }
      case "WorkoutStatistics":
        if let statistics = statistics(child, keepingIn: &draft.metadata) { workout.statistics.append(statistics) }
      case "WorkoutActivity":
        if let activity = activity(child) { workout.activities.append(activity) }
      case "WorkoutRoute":
        paths += child.children.compactMap { file in
          file.attributes.rest.first { file.name == "FileReference" && $0.name == "path" }?.value
        }
      default: skip("Workout/\(child.name) is unknown")
      }
    }
    if !paths.isEmpty { draft.metadata.append(("hpeer.route", paths.joined(separator: "\n"))) }
    draft.sample.payload = .workout(workout)
  }

  private mutating func event(_ element: RawElement) -> WorkoutEvent? {
    var attributes = element.attributes
    guard let date = attributes.take("date").flatMap({ keys.date($0) }) else {
      skip("WorkoutEvent with an unreadable date")
      return nil
    }
    var event = WorkoutEvent(type: attributes.take("type") ?? "", date: date, duration: duration(&attributes))
    var entries: [(key: String, value: String)] = []
    keepRest(of: attributes, of: "WorkoutEvent", in: &entries)
    for child in element.children {
      if child.name == "MetadataEntry" {
        if let entry = entry(child) { entries.append(entry) }
      } else {
        skip("WorkoutEvent/\(child.name) is unknown")
      }
    }
    event.metadata = metadata(entries)
    return event
  }

  private mutating func statistics(
    _ element: RawElement, keepingIn entries: inout [(key: String, value: String)]
  ) -> WorkoutStatistics? {
    var attributes = element.attributes
    guard let type = attributes.take("type") else {
      skip("WorkoutStatistics without a type")
      return nil
    }
    var statistics = WorkoutStatistics(type: SampleType(type))
    statistics.start = takeDate("startDate", &attributes)
    // The first releases of iOS 16 wrote the end as a second startDate.
    statistics.end = takeDate("endDate", &attributes) ?? takeDate("startDate", &attributes)
    statistics.average = takeNumber("average", &attributes)
    statistics.minimum = takeNumber("minimum", &attributes)
    statistics.maximum = takeNumber("maximum", &attributes)
    statistics.sum = takeNumber("sum", &attributes)
    statistics.unit = attributes.take("unit")
    var rest: [(key: String, value: String)] = []
    keepRest(of: attributes, of: "WorkoutStatistics", prefix: "WorkoutStatistics.\(type).", in: &rest)
    entries += rest
    for child in element.children { skip("WorkoutStatistics/\(child.name) is unknown") }
    return statistics
  }

  private mutating func activity(_ element: RawElement) -> WorkoutActivity? {
    var attributes = element.attributes
    guard let start = takeDate("startDate", &attributes) else {
      skip("WorkoutActivity with an unreadable startDate")
      return nil
    }
    var activity = WorkoutActivity(uuid: attributes.take("uuid") ?? "", start: start)
    activity.end = takeDate("endDate", &attributes)
    activity.duration = duration(&attributes)
    var entries: [(key: String, value: String)] = []
    keepRest(of: attributes, of: "WorkoutActivity", in: &entries)
    for child in element.children {
      switch child.name {
      case "MetadataEntry":
        if let entry = entry(child) { entries.append(entry) }
      case "WorkoutEvent":
        if let event = event(child) { activity.events.append(event) }
      case "WorkoutStatistics":
        if let statistics = statistics(child, keepingIn: &entries) { activity.statistics.append(statistics) }
      default: skip("WorkoutActivity/\(child.name) is unknown")
      }
    }
    activity.metadata = metadata(entries)
    return activity
  }

  // MARK: Attributes

  /// `duration` in seconds; Apple prints minutes. One that cannot be converted stays in the list.
  private func duration(_ attributes: inout AttributeList) -> Double? {
    guard let text = attributes.rest.first(where: { $0.name == "duration" })?.value,
      let value = DecimalReader.read(text)?.value,
      let seconds = UnitConversion.convert(
        value, from: attributes.rest.first { $0.name == "durationUnit" }?.value ?? "min", to: "s")
    else { return nil }
    _ = attributes.take("duration")
    _ = attributes.take("durationUnit")
    return seconds
  }

  /// What cannot be read stays in the list, and so is kept as it is.
  private mutating func takeDate(_ name: String, _ attributes: inout AttributeList) -> Timestamp? {
    guard let text = attributes.rest.first(where: { $0.name == name })?.value, let date = keys.date(text)
    else { return nil }
    _ = attributes.take(name)
    return date
  }

  private func takeNumber(_ name: String, _ attributes: inout AttributeList) -> Double? {
    guard let text = attributes.rest.first(where: { $0.name == name })?.value, let number = DecimalReader.read(text)
    else { return nil }
    _ = attributes.take(name)
    return number.value
  }

  private mutating func keepRest(
    of attributes: AttributeList, of element: String, prefix: String = "",
    in entries: inout [(key: String, value: String)]
  ) {
    for (name, value) in attributes.rest {
      remark("\(element) with an unknown attribute \(name)")
      entries.append((attributeKey(prefix + name), value))
    }
  }
}
