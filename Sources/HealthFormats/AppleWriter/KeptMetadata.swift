import HealthModel

/// The metadata of a sample, split into real metadata entries and data that an import kept in metadata because the
/// model has no place for it.
struct KeptMetadata {
  struct Entry {
    var key: String
    var value: String
    /// The key in the sample, which differs from `key` for a second entry of the same key.
    var keptKey: String

    /// The place by which kept attributes and elements refer to the entry.
    var place: String { "MetadataEntry.\(keptKey)" }
  }

  /// A record's heart beats, with wall clock times or with times after the record's start.
  struct Beats {
    var wallClock: String?
    var aligned: String?
    var offset: Int?
    var format: String?
  }

  private(set) var entries: [Entry] = []
  private(set) var beats = Beats()
  /// The unknown attributes of the sample's own element.
  private var attributes: [(name: String, value: String)] = []
  /// The unknown attributes of child elements without metadata of their own, by path: `WorkoutStatistics.type.name`.
  private var placed: [(path: String, value: String)] = []
  private var elements: [ForeignElement] = []

  private static let places = [
    "MetadataEntry", "WorkoutStatistics", "SensitivityPoint", "RightEye", "LeftEye", "Attachment", "FileReference",
    "HeartRateVariabilityMetadataList", "InstantaneousBeatsPerMinute",
  ]

  init(_ metadata: Metadata, _ text: AppleText) {
    for (key, value) in metadata.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      let value = text.metadata(value)
      if key.begins(with: "hpeer."), keep(key, value) { continue }
      entries.append(Entry(key: Self.key(key, metadata), value: value, keptKey: key))
    }
  }

  /// Keeps an entry that an import made. Returns false for a real metadata entry.
  private mutating func keep(_ key: String, _ value: String) -> Bool {
    switch key {
    case "hpeer.beatsPerMinute": beats.aligned = value
    case "hpeer.beatsPerMinute.wallClock": beats.wallClock = value
    case "hpeer.beatsUTCOffset": beats.offset = Int(value)
    case "hpeer.beatsFormat": beats.format = value
    // These belong to files beside the XML.
    case _ where key.begins(with: "hpeer.gpx."): break
    default:
      if key.begins(with: PreservedKey.elementPrefix), let element = ForeignElement(value) {
        elements.append(element)
      } else if key.begins(with: PreservedKey.attributePrefix) {
        let name = String(Substring(key.utf8.dropFirst(PreservedKey.attributePrefix.utf8.count)))
        let place = name.prefix { $0 != "." && $0 != "#" }
        if place.count < name.count, Self.places.contains(String(place)) {
          placed.append((name, value))
        } else if XMLOutput.isName(name) {
          attributes.append((name, value))
        } else {
          return false
        }
      } else {
        return false
      }
    }
    return true
  }

  // MARK: Taking

  mutating func take(attribute name: String) -> String? {
    guard let index = attributes.firstIndex(where: { $0.name == name }) else { return nil }
    return attributes.remove(at: index).value
  }

  mutating func takeAttributes() -> [(name: String, value: String)] {
    defer { attributes.removeAll() }
    return attributes
  }

  /// Removes and returns the unknown attributes and elements at a place.
  mutating func take(at place: String) -> (attributes: [(name: String, value: String)], elements: [ForeignElement]) {
    var found: [(name: String, value: String)] = []
    placed.removeAll { path, value in
      guard path.begins(with: "\(place).") else { return false }
      let name = String(Substring(path.utf8.dropFirst(place.utf8.count + 1)))
      guard XMLOutput.isName(name), !name.contains(".") else { return false }
      found.append((name, value))
      return true
    }
    let inside = elements.filter { $0.place == place }
    elements.removeAll { $0.place == place }
    return (found, inside)
  }

  /// Removes and returns the remaining elements: those without a place, and those whose place was not found.
  mutating func takeElements() -> [ForeignElement] {
    defer { elements.removeAll() }
    return elements
  }

  /// Removes and returns the attributes whose place was not found, as entries that an import reads as the same
  /// metadata.
  mutating func takeRest() -> [(key: String, value: String)] {
    defer { placed.removeAll() }
    return placed.map { (PreservedKey.attributePrefix + $0.path, $0.value) }
  }

  mutating func giveBack(attribute name: String, _ value: String) { placed.append((name, value)) }

  var hasPlaces: Bool { !placed.isEmpty || elements.contains { $0.place != nil } }

  func contains(place: String) -> Bool {
    elements.contains { $0.place == place } || placed.contains { $0.path.begins(with: "\(place).") }
  }

  /// Returns the original key: `meal` for `meal#2`, which stands for a second entry of that key.
  private static func key(_ key: String, _ metadata: Metadata) -> String {
    guard let mark = key.lastIndex(of: "#"), let number = Int(key[mark...].dropFirst()), number > 1,
      metadata[String(key[..<mark])] != nil
    else { return key }
    return String(key[..<mark])
  }
}
