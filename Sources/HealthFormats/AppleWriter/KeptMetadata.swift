import HealthModel

/// Metadata, divided into what the export printed as such and what the import kept there for want of a better place.
struct KeptMetadata {
  private(set) var attributes: [(name: String, value: String)] = []
  private(set) var entries: [(key: String, value: String)] = []
  /// `hpeer.element.NAME`: elements that nothing understood.
  private(set) var elements: [ForeignElement] = []
  /// `hpeer.attribute.ELEMENT.…`: attributes of the elements within, by element and what tells it from others.
  private(set) var nested: [String: [(name: String, value: String)]] = [:]
  /// `bpm@seconds;…`, or as printed where there is no ``clock``.
  private(set) var beats: String?
  private(set) var clock: BeatPrinter?

  private static let attribute = "hpeer.attribute."
  private static let element = "hpeer.element."
  private static let inner = [
    "WorkoutStatistics", "MetadataEntry", "SensitivityPoint", "RightEye", "LeftEye", "Attachment", "FileReference",
    "InstantaneousBeatsPerMinute",
  ]

  init(_ metadata: Metadata, _ text: AppleText) {
    var (format, offset): (String?, Int?) = (nil, nil)
    for (key, value) in metadata.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      let value = text.metadata(value)
      switch key {
      case "hpeer.beatsPerMinute", "hpeer.beatsPerMinute.wallClock": beats = value
      case "hpeer.beatsFormat": format = value
      case "hpeer.beatsUTCOffset": offset = Int(value)
      case _ where key.hasPrefix(Self.attribute) && addAttribute(Self.key(key, metadata), value): break
      case _ where key.hasPrefix(Self.element) && addElement(value): break
      // What a file beside the XML said of itself.
      case "hpeer.gpx.name", "hpeer.gpx.creator": break
      default: entries.append((Self.key(key, metadata), value))
      }
    }
    if let format, let offset { clock = BeatPrinter(format: format, offset: offset) }
  }

  mutating func take(attribute name: String) -> String? {
    guard let index = attributes.firstIndex(where: { $0.name == name }) else { return nil }
    return attributes.remove(at: index).value
  }

  private mutating func addAttribute(_ key: String, _ value: String) -> Bool {
    let name = String(key.dropFirst(Self.attribute.count))
    if Self.inner.contains(where: { name.hasPrefix($0 + ".") }), let dot = name.lastIndex(of: ".") {
      nested[String(name[..<dot]), default: []].append((String(name[name.index(after: dot)...]), value))
      return true
    }
    guard XMLOutput.isName(name) else { return false }
    attributes.append((name, value))
    return true
  }

  private mutating func addElement(_ text: String) -> Bool {
    guard let content = try? CanonicalJSON.decode(JSONValue.self, text), let element = ForeignElement(content) else {
      return false
    }
    elements.append(element)
    return true
  }

  /// `meal` for `meal#2`, which stands for a second entry of that key.
  private static func key(_ key: String, _ metadata: Metadata) -> String {
    guard let mark = key.lastIndex(of: "#"), let number = Int(key[key.index(after: mark)...]), number > 1,
      metadata[String(key[..<mark])] != nil
    else { return key }
    return String(key[..<mark])
  }
}
