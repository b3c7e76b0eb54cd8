import HealthModel

/// Writes `Record`, and the parts that all elements share.
extension AppleExportWriter {
  mutating func record(_ sample: Sample) {
    var (value, unit): (String?, String?) = (nil, nil)
    switch sample.payload {
    case .quantity(let quantity):
      value = text.number(quantity.value)
      unit = quantity.unit.isEmpty ? nil : quantity.unit
    case .category(let category): value = CategoryValueNames.healthKit.exported(category, type: sample.type)
    case .unknown(_, .object(let members)):
      if case .string(let text)? = members["value"] { value = text }
      if case .string(let text)? = members["unit"] { unit = text }
    default: break
    }
    var kept = KeptMetadata(sample.metadata, text)
    output.start("Record")
    output.attribute("type", sample.type.rawValue)
    source(of: sample)
    output.attribute("unit", unit ?? kept.take(attribute: "unit"))
    dates(of: sample, &kept)
    output.attribute("value", value)
    attributes(&kept)
    entries(&kept)
    beats(&kept, start: sample.start)
    finish(&kept)
  }

  // MARK: Shared

  /// Writes `sourceName`, `sourceVersion` and `device`.
  mutating func source(of sample: Sample) {
    output.attribute("sourceName", sample.source.name)
    output.attribute("sourceVersion", sample.source.version)
    guard let device = sample.device else { return }
    // Samples of one device mostly follow each other.
    if lastDevice?.device != device { lastDevice = (device, text.device(device)) }
    output.attribute("device", lastDevice?.text)
  }

  /// Writes `creationDate`, `startDate` and `endDate`. A date that could not be read is written unchanged.
  ///
  /// - Parameter hasStart: false for an element with another attribute for its start. It gets an `endDate` only if
  ///   that differs.
  mutating func dates(of sample: Sample, _ kept: inout KeptMetadata, hasStart: Bool = true) {
    output.attribute("creationDate", kept.take(attribute: "creationDate") ?? sample.created.map { text.date($0) })
    let start = kept.take(attribute: "startDate") ?? (hasStart ? text.date(sample.start) : nil)
    output.attribute("startDate", start)
    let end = kept.take(attribute: "endDate") ?? (hasStart || sample.end != sample.start ? text.date(sample.end) : nil)
    output.attribute("endDate", end)
  }

  mutating func quantity(_ name: String, _ unitName: String, _ quantity: Quantity?) {
    guard let quantity else { return }
    output.attribute(name, text.number(quantity.value))
    output.attribute(unitName, quantity.unit.isEmpty ? nil : quantity.unit)
  }

  /// Writes the attributes that the model has no place for. Call this right after the known attributes.
  mutating func attributes(_ kept: inout KeptMetadata) {
    for (name, value) in kept.takeAttributes() where !output.attribute(other: name, value) {
      kept.giveBack(attribute: name, value)
    }
  }

  mutating func entries(_ kept: inout KeptMetadata) {
    for entry in kept.entries {
      output.start("MetadataEntry")
      output.attribute("key", entry.key)
      output.attribute("value", entry.value)
      if kept.hasPlaces { unknown(at: entry.place, &kept) }
      output.end()
    }
  }

  /// Writes the unknown attributes and children of an element without metadata of its own. Call this right after its
  /// known attributes.
  mutating func unknown(at place: String, _ kept: inout KeptMetadata) {
    let (attributes, elements) = kept.take(at: place)
    for (name, value) in attributes where !output.attribute(other: name, value) {
      kept.giveBack(attribute: "\(place).\(name)", value)
    }
    for element in elements { write(element) }
  }

  /// Ends an element, after writing the rest of its metadata.
  mutating func finish(_ kept: inout KeptMetadata) {
    for element in kept.takeElements() { write(element) }
    for (key, value) in kept.takeRest() {
      output.start("MetadataEntry")
      output.attribute("key", key)
      output.attribute("value", value)
      output.end()
    }
    output.end()
  }

  mutating func write(_ element: ForeignElement) {
    output.start(element.name)
    for (name, value) in element.attributes.sorted(by: { $0.key < $1.key }) where XMLOutput.isName(name) {
      output.attribute(name, value)
    }
    for child in element.children { write(child) }
    output.end()
  }

  // MARK: Heart beats

  private mutating func beats(_ kept: inout KeptMetadata, start: Timestamp) {
    let list = "HeartRateVariabilityMetadataList"
    let beats = beats(kept.beats, start: start)
    guard beats != nil || kept.contains(place: list) else { return }
    output.start(list)
    unknown(at: list, &kept)
    for (index, beat) in (beats ?? "").utf8.split(separator: UInt8(ascii: ";")).enumerated() {
      let parts = beat.split(separator: UInt8(ascii: "@"), maxSplits: 1, omittingEmptySubsequences: false)
        .map(Substring.init)
      output.start("InstantaneousBeatsPerMinute")
      output.attribute("bpm", String(parts[0]))
      output.attribute("time", parts.count > 1 ? String(parts[1]) : "")
      if kept.hasPlaces { unknown(at: PreservedKey.place("InstantaneousBeatsPerMinute", index + 1), &kept) }
      output.end()
    }
    output.end()
  }

  /// Returns the beats as `bpm@time;…` with wall clock times.
  private func beats(_ beats: KeptMetadata.Beats, start: Timestamp) -> String? {
    if let wallClock = beats.wallClock { return wallClock }
    guard let aligned = beats.aligned, let format = beats.format, let offset = beats.offset else {
      return beats.aligned
    }
    return BeatClock(beats: aligned, offset: offset, format: format).printed(start: start) ?? aligned
  }
}
