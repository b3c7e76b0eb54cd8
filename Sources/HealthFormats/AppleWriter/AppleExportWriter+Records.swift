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
    beats(kept)
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

  mutating func entries(_ kept: KeptMetadata) {
    for (key, value) in kept.entries {
      output.start("MetadataEntry")
      output.attribute("key", key)
      output.attribute("value", value)
      output.end()
    }
  }

  /// The list of heart beats, from `bpm@time;…`.
  private mutating func beats(_ kept: KeptMetadata) {
    guard let beats = kept.beats else { return }
    output.start("HeartRateVariabilityMetadataList")
    for beat in beats.split(separator: ";", omittingEmptySubsequences: false) {
      let parts = beat.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
      output.start("InstantaneousBeatsPerMinute")
      output.attribute("bpm", String(parts[0]))
      output.attribute("time", parts.count > 1 ? String(parts[1]) : "")
      output.end()
    }
    output.end()
  }
}

/// Metadata, divided into what the export printed as such and what the import kept there for want of a better place.
struct KeptMetadata {
  private(set) var attributes: [(name: String, value: String)] = []
  private(set) var entries: [(key: String, value: String)] = []
  /// `hpeer.beatsPerMinute`.
  private(set) var beats: String?
  /// `hpeer.route`: the paths of a workout's routes.
  private(set) var routes: [String] = []
  /// `hpeer.attribute.WorkoutStatistics.…`: attributes of a workout's statistics by their type.
  private(set) var statistics: [String: [(name: String, value: String)]] = [:]

  private static let attribute = "hpeer.attribute."
  private static let statisticsAttribute = "hpeer.attribute.WorkoutStatistics."

  init(_ metadata: Metadata, _ text: AppleText) {
    for (key, value) in metadata.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      let value = text.metadata(value)
      if key == "hpeer.beatsPerMinute" {
        beats = value
      } else if key == "hpeer.route" {
        routes = value.split(separator: "\n").map(String.init)
      } else if key.hasPrefix(Self.statisticsAttribute), let dot = key.lastIndex(of: ".") {
        let type = key[..<dot].dropFirst(Self.statisticsAttribute.count)
        statistics[String(type), default: []].append((String(key[dot...].dropFirst()), value))
      } else if key.hasPrefix(Self.attribute), XMLOutput.isName(String(key.dropFirst(Self.attribute.count))) {
        attributes.append((String(key.dropFirst(Self.attribute.count)), value))
      } else {
        entries.append((Self.key(key, metadata), value))
      }
    }
  }

  mutating func take(attribute name: String) -> String? {
    guard let index = attributes.firstIndex(where: { $0.name == name }) else { return nil }
    return attributes.remove(at: index).value
  }

  /// `meal` for `meal#2`, which stands for a second entry of that key.
  private static func key(_ key: String, _ metadata: Metadata) -> String {
    guard let mark = key.lastIndex(of: "#"), let number = Int(key[mark...].dropFirst()), number > 1,
      metadata[String(key[..<mark])] != nil
    else { return key }
    return String(key[..<mark])
  }
}
