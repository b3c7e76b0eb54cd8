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
    for child in children {
      switch child.name {
      case "MetadataEntry":
        if let entry = entry(child, keepingIn: &draft.metadata) { draft.metadata.append(entry) }
      case "WorkoutEvent":
        if let event = event(child, keepingIn: &draft.metadata) { workout.events.append(event) }
      case "WorkoutStatistics":
        if let statistics = statistics(child, after: workout.statistics, keepingIn: &draft.metadata) {
          workout.statistics.append(statistics)
        }
      case "WorkoutActivity":
        if let activity = activity(child, keepingIn: &draft.metadata) { workout.activities.append(activity) }
      // A sample of its own.
      case "WorkoutRoute" where child.route != nil: continue
      default: keep(child, of: "Workout", in: &draft.metadata)
      }
    }
    draft.sample.payload = .workout(workout)
  }

  private mutating func event(
    _ element: RawElement, keepingIn outer: inout [(key: String, value: String)]
  ) -> WorkoutEvent? {
    noticeLine = element.line
    var attributes = element.attributes
    guard let date = takeDate("date", &attributes) else {
      remark("WorkoutEvent with an unreadable date")
      keep(element, of: "Workout", in: &outer)
      return nil
    }
    var event = WorkoutEvent(type: attributes.take("type") ?? "", date: date, duration: duration(&attributes))
    var entries: [(key: String, value: String)] = []
    keepRest(of: attributes, of: "WorkoutEvent", in: &entries)
    for child in element.children {
      if child.name == "MetadataEntry" {
        if let entry = entry(child, keepingIn: &entries) { entries.append(entry) }
      } else {
        keep(child, of: "WorkoutEvent", in: &entries)
      }
    }
    noticeLine = element.line
    event.metadata = metadata(entries)
    return event
  }

  private mutating func statistics(
    _ element: RawElement, after earlier: [WorkoutStatistics],
    keepingIn entries: inout [(key: String, value: String)]
  ) -> WorkoutStatistics? {
    noticeLine = element.line
    var attributes = element.attributes
    guard let type = attributes.take("type") else {
      remark("WorkoutStatistics without a type")
      keep(element, of: "Workout", in: &entries)
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
    let place = Self.place("WorkoutStatistics.\(type)", earlier.count { $0.type == statistics.type } + 1)
    keepRest(of: attributes, of: "WorkoutStatistics", prefix: "\(place).", in: &entries)
    for child in element.children { keep(child, of: "WorkoutStatistics", at: place, in: &entries) }
    return statistics
  }

  private mutating func activity(
    _ element: RawElement, keepingIn outer: inout [(key: String, value: String)]
  ) -> WorkoutActivity? {
    noticeLine = element.line
    var attributes = element.attributes
    guard let start = takeDate("startDate", &attributes) else {
      remark("WorkoutActivity with an unreadable startDate")
      keep(element, of: "Workout", in: &outer)
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
        if let entry = entry(child, keepingIn: &entries) { entries.append(entry) }
      case "WorkoutEvent":
        if let event = event(child, keepingIn: &entries) { activity.events.append(event) }
      case "WorkoutStatistics":
        if let statistics = statistics(child, after: activity.statistics, keepingIn: &entries) {
          activity.statistics.append(statistics)
        }
      default: keep(child, of: "WorkoutActivity", in: &entries)
      }
    }
    noticeLine = element.line
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
  mutating func takeDate(_ name: String, _ attributes: inout AttributeList) -> Timestamp? {
    guard let text = attributes.rest.first(where: { $0.name == name })?.value, let date = keys.date(text)
    else { return nil }
    _ = attributes.take(name)
    return date
  }

  func takeNumber(_ name: String, _ attributes: inout AttributeList) -> Double? {
    guard let text = attributes.rest.first(where: { $0.name == name })?.value, let number = DecimalReader.read(text)
    else { return nil }
    _ = attributes.take(name)
    return number.value
  }

  mutating func keepRest(
    of attributes: AttributeList, of element: String, prefix: String = "",
    in entries: inout [(key: String, value: String)]
  ) {
    for (name, value) in attributes.rest {
      remark("\(element) with an unknown attribute \(name)")
      entries.append((attributeKey(prefix + name), value))
    }
  }
}
