extension Workout: SamplePayload {
  package static let kind = "workout"
  package static let isOpen = false
  package var payload: Payload { .workout(self) }

  package var canonicalValue: String { activityType.exported }
  package var rankDetail: RankDetail { duration.map { .text(String($0)) } ?? .nothing }

  package func coded() throws -> CodedPayload {
    CodedPayload(json: try CanonicalJSONWriter.text(capacity: 1024) { try write(to: &$0) })
  }
}

// The JSON encoding, written by hand for speed.

extension Workout {
  private func write(to json: inout CanonicalJSONWriter) throws {
    try json.object { json in
      try json.member("activities", activities) { try $0.write(to: &$1) }
      json.name("activityType")
      switch activityType {
      case .value(let value): json.json(String(value))
      case .name(let name): json.string(name)
      }
      json.member("duration", duration)
      try json.member("events", events) { try $0.write(to: &$1) }
      json.member(partial: isPartial)
      json.member("statistics", statistics) { $0.write(to: &$1) }
      if totals.isEmpty { return }
      json.name("totals")
      json.object { json in
        for (name, quantity) in totals.inCanonicalOrder {
          json.name(name)
          json.object { json in
            json.member("unit", quantity.unit)
            json.member("value", quantity.value)
          }
        }
      }
    }
  }
}

extension WorkoutStatistics {
  fileprivate func write(to json: inout CanonicalJSONWriter) {
    json.object { json in
      json.member("average", average)
      json.member("end", end)
      json.member("maximum", maximum)
      json.member("minimum", minimum)
      json.member("start", start)
      json.member("sum", sum)
      json.member("type", type.rawValue)
      json.member("unit", unit)
    }
  }
}

extension WorkoutEvent {
  fileprivate func write(to json: inout CanonicalJSONWriter) throws {
    try json.object { json in
      json.member("date", date)
      json.member("duration", duration)
      try json.member(metadata: metadata)
      json.member("type", type)
    }
  }
}

extension WorkoutActivity {
  fileprivate func write(to json: inout CanonicalJSONWriter) throws {
    try json.object { json in
      json.member("duration", duration)
      json.member("end", end)
      try json.member("events", events) { try $0.write(to: &$1) }
      try json.member(metadata: metadata)
      json.member("start", start)
      json.member("statistics", statistics) { $0.write(to: &$1) }
      json.member("uuid", uuid)
    }
  }
}

// The canonical form for digests, with the same members.

extension Workout {
  package func write(to form: inout CanonicalForm) {
    form.object { form in
      form.list("activities", activities) { $0.write($1) }
      form.member("activityType", activityType) { $0.write($1) }
      form.member("duration", duration)
      form.list("events", events) { $0.write($1) }
      form.member(partial: isPartial)
      form.list("statistics", statistics) { $0.write($1) }
      form.member("totals", totals.isEmpty ? nil : totals) { $0.object($1) { $1.write(to: &$0) } }
    }
  }
}

extension CanonicalForm {
  fileprivate mutating func write(_ type: WorkoutActivityType) {
    switch type {
    case .value(let value):
      if let integer = Int64(exactly: value) { write(integer) } else { write(Double(value)) }
    case .name(let name): write(name)
    }
  }

  fileprivate mutating func write(_ statistics: WorkoutStatistics) {
    object { form in
      form.member("average", statistics.average)
      form.member("end", statistics.end) { $0.write($1) }
      form.member("maximum", statistics.maximum)
      form.member("minimum", statistics.minimum)
      form.member("start", statistics.start) { $0.write($1) }
      form.member("sum", statistics.sum)
      form.member("type", statistics.type) { $0.write($1) }
      form.member("unit", statistics.unit)
    }
  }

  fileprivate mutating func write(_ event: WorkoutEvent) {
    object { form in
      form.member("date", event.date) { $0.write($1) }
      form.member("duration", event.duration)
      form.member("metadata", event.metadata) { $0.write($1) }
      form.member("type", event.type)
    }
  }

  fileprivate mutating func write(_ activity: WorkoutActivity) {
    object { form in
      form.member("duration", activity.duration)
      form.member("end", activity.end) { $0.write($1) }
      form.list("events", activity.events) { $0.write($1) }
      form.member("metadata", activity.metadata) { $0.write($1) }
      form.member("start", activity.start) { $0.write($1) }
      form.list("statistics", activity.statistics) { $0.write($1) }
      form.member("uuid", activity.uuid)
    }
  }
}
