extension Workout {
  func write(to json: inout CanonicalJSONWriter) throws {
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

extension CanonicalJSONWriter {
  fileprivate mutating func member(partial: Bool) {
    guard partial else { return }
    name("partial")
    json("true")
  }

  fileprivate mutating func member(metadata: Metadata) throws {
    if metadata.isEmpty { return }
    name("metadata")
    try encode(metadata)
  }
}

extension ActivitySummary {
  func write(to json: inout CanonicalJSONWriter) {
    json.object { json in
      json.name("attributes")
      json.object { json in
        for (name, value) in attributes.inCanonicalOrder { json.member(name, value) }
      }
      json.member("date", date)
    }
  }
}

extension Correlation {
  func write(to json: inout CanonicalJSONWriter) {
    json.object { json in
      json.name("members")
      json.array(members) { member, json in
        json.object { json in
          json.member("start", member.start)
          json.member("type", member.type.rawValue)
          json.member("uuid", member.uuid.uuidString)
        }
      }
      json.member(partial: isPartial)
    }
  }
}
