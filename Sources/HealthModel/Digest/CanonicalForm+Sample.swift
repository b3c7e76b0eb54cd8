// The members of each object are in the order of their keys and match the Codable conformances.

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

  /// Writes a member, or nothing for a missing value.
  mutating func member<Value>(_ key: String, _ value: Value?, _ write: (inout Self, Value) -> Void) {
    guard let value else { return }
    self.write(key)
    write(&self, value)
  }

  mutating func member(_ key: String, _ text: String?) {
    member(key, text) { $0.write($1) }
  }

  mutating func member(_ key: String, _ number: Double?) {
    member(key, number) { $0.write($1) }
  }

  /// Writes a metadata member, or nothing if the metadata are empty.
  mutating func member(_ key: String, _ metadata: Metadata, _ write: (inout Self, Metadata) -> Void) {
    member(key, metadata.isEmpty ? nil : metadata, write)
  }

  mutating func list<Element>(_ key: String, _ elements: [Element], _ write: (inout Self, Element) -> Void) {
    member(key, elements.isEmpty ? nil : elements) { $0.array($1, write) }
  }

  mutating func write(_ instant: Timestamp) { write(instant.iso8601) }

  mutating func write(_ type: SampleType) { write(type.rawValue) }

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

  mutating func write(_ metadata: Metadata) {
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
    case .quantity(let quantity): quantity.write(to: &self)
    case .category(let category): category.write(to: &self)
    case .unknown(_, let content): write(content)
    default: payload.content?.write(to: &self)
    }
  }

  mutating func member(partial: Bool) {
    if partial { member("partial", true) { $0.write($1) } }
  }

  mutating func write(_ column: [Double?]) {
    array(column) { form, number in
      if let number { form.write(number) } else { form.null() }
    }
  }

  mutating func write(_ reference: SampleReference) {
    object { form in
      form.member("start", reference.start) { $0.write($1) }
      form.member("type", reference.type) { $0.write($1) }
      form.member("uuid", reference.uuid.uuidString)
    }
  }
}
