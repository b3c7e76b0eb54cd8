// The members of each object in the order of their keys, as the Codable conformances write them.

extension CanonicalForm {
  mutating func write(_ sample: Sample) {
    object { form in
      form.member("created", sample.created) { $0.write($1) }
      form.member("device", sample.device) { $0.write($1) }
      form.member("end", sample.end) { $0.write($1) }
      form.member("kind", sample.payload.kind) { $0.write($1) }
      form.member("metadata", sample.metadata) { $0.write($1) }
      form.member("payload", sample.payload) { $0.write($1) }
      form.member("source", sample.source) { $0.write($1) }
      form.member("start", sample.start) { $0.write($1) }
      form.member("type", sample.type) { $0.write($1) }
      form.member("uuid", sample.uuid.uuidString) { $0.write($1) }
    }
  }

  /// Nothing for a value that is not there.
  private mutating func member<Value>(_ key: String, _ value: Value?, _ write: (inout Self, Value) -> Void) {
    guard let value else { return }
    self.write(key)
    write(&self, value)
  }

  private mutating func member(_ key: String, _ text: String?) {
    member(key, text) { $0.write($1) }
  }

  private mutating func member(_ key: String, _ number: Double?) {
    member(key, number) { $0.write($1) }
  }

  /// Nothing for metadata without entries.
  private mutating func member(_ key: String, _ metadata: Metadata, _ write: (inout Self, Metadata) -> Void) {
    member(key, metadata.isEmpty ? nil : metadata, write)
  }

  private mutating func list<Element>(_ key: String, _ elements: [Element], _ write: (inout Self, Element) -> Void) {
    member(key, elements.isEmpty ? nil : elements) { $0.array($1, write) }
  }

  private mutating func write(_ instant: Timestamp) { write(instant.iso8601) }

  private mutating func write(_ type: SampleType) { write(type.rawValue) }

  private mutating func write(_ source: Source) {
    object { form in
      form.member("bundleIdentifier", source.bundleIdentifier)
      form.member("name", source.name)
      form.member("version", source.version)
    }
  }

  private mutating func write(_ device: Device) {
    object { form in
      form.member("firmwareVersion", device.firmwareVersion)
      form.member("hardwareVersion", device.hardwareVersion)
      form.member("localIdentifier", device.localIdentifier)
      form.member("manufacturer", device.manufacturer)
      form.member("model", device.model)
      form.member("name", device.name)
      form.member("softwareVersion", device.softwareVersion)
      form.member("text", device.text)
      form.member("udiDeviceIdentifier", device.udiDeviceIdentifier)
    }
  }

  private mutating func write(_ metadata: Metadata) {
    object(metadata) { form, value in
      switch value {
      case .string(let text): form.write(text)
      case .integer(let integer): form.write(integer)
      case .bool(let flag): form.write(flag)
      case .number(let number): form.object { $0.member("number", number) }
      case .date(let date): form.object { $0.member("date", date.iso8601) }
      }
    }
  }

  private mutating func write(_ payload: Payload) {
    switch payload {
    case .quantity(let quantity): write(quantity)
    case .category(let category):
      object { form in
        form.member("name", category.name)
        form.member("value", category.value) { $0.write($1) }
      }
    case .correlation(let correlation):
      object { form in
        form.member("members", correlation.members) { $0.array($1) { $0.write($1) } }
        form.member(partial: correlation.isPartial)
      }
    case .workout(let workout): write(workout)
    case .activitySummary(let summary):
      object { form in
        form.member("attributes", summary.attributes) { $0.object($1) { $0.write($1) } }
        form.member("date", summary.date)
      }
    case .characteristic(let characteristic): object { $0.member("value", characteristic.value) }
    case .workoutRoute(let route): write(route)
    case .electrocardiogram(let electrocardiogram): write(electrocardiogram)
    case .audiogram(let audiogram): write(JSONValue(audiogram))
    case .visionPrescription(let prescription): write(JSONValue(prescription))
    case .clinicalRecord(let record): write(JSONValue(record))
    case .unknown(_, let content): write(content)
    }
  }

  private mutating func write(_ quantity: Quantity) {
    object { form in
      form.member("unit", quantity.unit)
      form.member("value", quantity.value)
    }
  }

  private mutating func member(partial: Bool) {
    if partial { member("partial", true) { $0.write($1) } }
  }

  private mutating func write(_ reference: SampleReference) {
    object { form in
      form.member("start", reference.start) { $0.write($1) }
      form.member("type", reference.type) { $0.write($1) }
      form.member("uuid", reference.uuid.uuidString)
    }
  }
}

// MARK: - Workouts

extension CanonicalForm {
  private mutating func write(_ workout: Workout) {
    object { form in
      form.list("activities", workout.activities) { $0.write($1) }
      form.member("activityType", workout.activityType) { $0.write($1) }
      form.member("duration", workout.duration)
      form.list("events", workout.events) { $0.write($1) }
      form.member(partial: workout.isPartial)
      form.list("statistics", workout.statistics) { $0.write($1) }
      form.member("totals", workout.totals.isEmpty ? nil : workout.totals) { $0.object($1) { $0.write($1) } }
    }
  }

  private mutating func write(_ type: WorkoutActivityType) {
    switch type {
    case .value(let value):
      if let integer = Int64(exactly: value) { write(integer) } else { write(Double(value)) }
    case .name(let name): write(name)
    }
  }

  private mutating func write(_ statistics: WorkoutStatistics) {
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

  private mutating func write(_ event: WorkoutEvent) {
    object { form in
      form.member("date", event.date) { $0.write($1) }
      form.member("duration", event.duration)
      form.member("metadata", event.metadata) { $0.write($1) }
      form.member("type", event.type)
    }
  }

  private mutating func write(_ activity: WorkoutActivity) {
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

// MARK: - Columns of numbers

extension CanonicalForm {
  private mutating func write(_ route: WorkoutRoute) {
    object { form in
      for name in (WorkoutRoute.columnNames + ["path", "workout"]).sorted() {
        switch name {
        case "path": form.member(name, route.path)
        case "workout": form.member(name, route.workout) { $0.write($1) }
        default: form.member(name, route.column(name)) { $0.write($1) }
        }
      }
    }
  }

  private mutating func write(_ electrocardiogram: Electrocardiogram) {
    object { form in
      form.member("averageHeartRate", electrocardiogram.averageHeartRate)
      form.member("classification", electrocardiogram.classification)
      form.member("lead", electrocardiogram.lead)
      form.member("samplingFrequency", electrocardiogram.samplingFrequency)
      form.member("symptoms", electrocardiogram.symptoms)
      form.member("unit", electrocardiogram.unit)
      form.member("voltages", electrocardiogram.voltages) { $0.write($1) }
    }
  }

  private mutating func write(_ column: [Double?]) {
    array(column) { form, number in
      if let number { form.write(number) } else { form.null() }
    }
  }
}

extension JSONValue {
  /// What is written of `value`; null for what cannot be written, which no payload is.
  fileprivate init(_ value: some Encodable) {
    self = (try? CanonicalJSON.decode(JSONValue.self, CanonicalJSON.encode(value))) ?? .null
  }
}
