// The synthesized coding cannot omit empty collections or encode non-finite doubles.

extension Workout: Codable {
  private enum Key: String, CodingKey { case activityType, duration, totals, statistics, events, activities, partial }

  public init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: Key.self)
    activityType = try object.decode(WorkoutActivityType.self, forKey: .activityType)
    duration = try object.decodeNumberIfPresent(forKey: .duration)
    totals = try object.decodeIfPresent([String: Quantity].self, forKey: .totals) ?? [:]
    statistics = try object.decodeIfPresent([WorkoutStatistics].self, forKey: .statistics) ?? []
    events = try object.decodeIfPresent([WorkoutEvent].self, forKey: .events) ?? []
    activities = try object.decodeIfPresent([WorkoutActivity].self, forKey: .activities) ?? []
    isPartial = try object.decodeIfPresent(Bool.self, forKey: .partial) ?? false
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(activityType, forKey: .activityType)
    try object.encodeNumberIfPresent(duration, forKey: .duration)
    if !totals.isEmpty { try object.encode(totals, forKey: .totals) }
    if !statistics.isEmpty { try object.encode(statistics, forKey: .statistics) }
    if !events.isEmpty { try object.encode(events, forKey: .events) }
    if !activities.isEmpty { try object.encode(activities, forKey: .activities) }
    if isPartial { try object.encode(true, forKey: .partial) }
  }
}

extension WorkoutStatistics: Codable {
  private enum Key: String, CodingKey { case type, start, end, average, minimum, maximum, sum, unit }

  public init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: Key.self)
    type = try object.decode(SampleType.self, forKey: .type)
    start = try object.decodeIfPresent(Timestamp.self, forKey: .start)
    end = try object.decodeIfPresent(Timestamp.self, forKey: .end)
    average = try object.decodeNumberIfPresent(forKey: .average)
    minimum = try object.decodeNumberIfPresent(forKey: .minimum)
    maximum = try object.decodeNumberIfPresent(forKey: .maximum)
    sum = try object.decodeNumberIfPresent(forKey: .sum)
    unit = try object.decodeIfPresent(String.self, forKey: .unit)
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(type, forKey: .type)
    try object.encodeIfPresent(start, forKey: .start)
    try object.encodeIfPresent(end, forKey: .end)
    try object.encodeNumberIfPresent(average, forKey: .average)
    try object.encodeNumberIfPresent(minimum, forKey: .minimum)
    try object.encodeNumberIfPresent(maximum, forKey: .maximum)
    try object.encodeNumberIfPresent(sum, forKey: .sum)
    try object.encodeIfPresent(unit, forKey: .unit)
  }
}

extension WorkoutEvent: Codable {
  private enum Key: String, CodingKey { case type, date, duration, metadata }

  public init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: Key.self)
    type = try object.decode(String.self, forKey: .type)
    date = try object.decode(Timestamp.self, forKey: .date)
    duration = try object.decodeNumberIfPresent(forKey: .duration)
    metadata = try object.decodeIfPresent(Metadata.self, forKey: .metadata) ?? [:]
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(type, forKey: .type)
    try object.encode(date, forKey: .date)
    try object.encodeNumberIfPresent(duration, forKey: .duration)
    if !metadata.isEmpty { try object.encode(metadata, forKey: .metadata) }
  }
}

extension WorkoutActivity: Codable {
  private enum Key: String, CodingKey { case uuid, start, end, duration, metadata, statistics, events }

  public init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: Key.self)
    uuid = try object.decode(String.self, forKey: .uuid)
    start = try object.decode(Timestamp.self, forKey: .start)
    end = try object.decodeIfPresent(Timestamp.self, forKey: .end)
    duration = try object.decodeNumberIfPresent(forKey: .duration)
    metadata = try object.decodeIfPresent(Metadata.self, forKey: .metadata) ?? [:]
    statistics = try object.decodeIfPresent([WorkoutStatistics].self, forKey: .statistics) ?? []
    events = try object.decodeIfPresent([WorkoutEvent].self, forKey: .events) ?? []
  }

  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: Key.self)
    try object.encode(uuid, forKey: .uuid)
    try object.encode(start, forKey: .start)
    try object.encodeIfPresent(end, forKey: .end)
    try object.encodeNumberIfPresent(duration, forKey: .duration)
    if !metadata.isEmpty { try object.encode(metadata, forKey: .metadata) }
    if !statistics.isEmpty { try object.encode(statistics, forKey: .statistics) }
    if !events.isEmpty { try object.encode(events, forKey: .events) }
  }
}
