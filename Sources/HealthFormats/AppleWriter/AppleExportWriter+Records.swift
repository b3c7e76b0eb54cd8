import HealthModel

/// `Record` and `Correlation`, and what all elements share.
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
    attributes(kept)
    entries(kept)
    beats(kept, of: sample)
    output.end()
  }

  mutating func correlation(_ sample: Sample, members: [Sample]) {
    var kept = KeptMetadata(sample.metadata, text)
    output.start("Correlation")
    output.attribute("type", sample.type.rawValue)
    source(of: sample)
    dates(of: sample, &kept)
    attributes(kept)
    entries(kept)
    for member in members { record(member) }
    output.end()
  }

  // MARK: Shared

  /// `sourceName`, `sourceVersion` and `device`.
  mutating func source(of sample: Sample) {
    output.attribute("sourceName", sample.source.name)
    output.attribute("sourceVersion", sample.source.version)
    output.attribute("device", sample.device.flatMap { text.device($0) })
  }

  /// `creationDate`, `startDate` and `endDate`; a date that could not be read as it was.
  mutating func dates(of sample: Sample, _ kept: inout KeptMetadata) {
    output.attribute("creationDate", kept.take(attribute: "creationDate") ?? sample.created.map { text.date($0) })
    output.attribute("startDate", text.date(sample.start))
    output.attribute("endDate", kept.take(attribute: "endDate") ?? text.date(sample.end))
  }

  mutating func attributes(_ kept: KeptMetadata) {
    for (name, value) in kept.attributes { output.attribute(name, value) }
  }

  /// Its entries, and elements that nothing understood.
  mutating func entries(_ kept: KeptMetadata) {
    for (key, value) in kept.entries {
      output.start("MetadataEntry")
      output.attribute("key", key)
      output.attribute("value", value)
      nested("MetadataEntry.\(key)", kept)
      output.end()
    }
    for element in kept.elements { write(element) }
  }

  /// The attributes of an element within the one that keeps its metadata.
  mutating func nested(_ element: String, _ kept: KeptMetadata) {
    for (name, value) in kept.nested[element] ?? [] where XMLOutput.isName(name) { output.attribute(name, value) }
  }

  /// The list of heart beats, from `bpm@seconds;…`, as the clock on the wall showed them.
  private mutating func beats(_ kept: KeptMetadata, of sample: Sample) {
    guard let beats = kept.beats else { return }
    output.start("HeartRateVariabilityMetadataList")
    for (index, beat) in beats.split(separator: ";", omittingEmptySubsequences: false).enumerated() {
      let parts = beat.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
      let time = parts.count > 1 ? String(parts[1]) : ""
      output.start("InstantaneousBeatsPerMinute")
      output.attribute("bpm", String(parts[0]))
      output.attribute("time", kept.clock?.text(of: time, after: sample.start) ?? time)
      if index == 0 { nested("InstantaneousBeatsPerMinute", kept) }
      output.end()
    }
    output.end()
  }
}
