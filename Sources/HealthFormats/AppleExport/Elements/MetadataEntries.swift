import HealthModel

/// The entries that become the metadata of a sample, in the order of the file: its `MetadataEntry` elements, and
/// everything that the model has no place for.
///
/// Unknown elements are kept as JSON text, `{"element":…,"attributes":{…},"children":[…]}`. If the parent element has
/// no metadata of its own, its place is stored in `in`; see ``PreservedKey``.
struct MetadataEntries {
  private(set) var entries: [(key: String, value: String)] = []
  /// The number of each value under its key, for the first ``numberedCount`` entries. Used by ``place(ofEntry:_:)``.
  private var numbers: [String: [String: Int]] = [:]
  private var numberedCount = 0
  /// The most bytes that are held while an element is open; what is more than half of it cannot travel.
  private static let maximumBytes = 2 * JSONBudget.metadata.bytes
  private var bytes = 0
  /// Whether there was more than is held. Then nothing is held any more, and the sample is to be skipped.
  private(set) var isTooLarge = false

  var isEmpty: Bool { entries.isEmpty }

  mutating func append(_ key: String, _ value: String) {
    // Each also costs an entry.
    bytes += key.utf8.count + value.utf8.count + 32
    if bytes > Self.maximumBytes { giveUp() }
    if !isTooLarge { entries.append((key, value)) }
  }

  mutating func append(_ other: MetadataEntries) {
    bytes += other.bytes
    if bytes > Self.maximumBytes { giveUp() }
    if !isTooLarge { entries += other.entries }
  }

  private mutating func giveUp() {
    isTooLarge = true
    (entries, numbers, numberedCount) = ([], [:], 0)
  }

  // MARK: What is unknown

  /// Keeps an attribute that the model has no place for.
  mutating func keep(attribute name: String, _ value: String, of element: String, _ context: inout ReadingContext) {
    context.remark("\(element) with an unknown attribute \(name)")
    append(PreservedKey.attribute(name), value)
  }

  /// Keeps the attributes that are left in the list.
  mutating func keep(
    rest attributes: AttributeList, of element: String, prefix: String = "", _ context: inout ReadingContext
  ) {
    for (name, value) in attributes.rest {
      context.remark("\(element) with an unknown attribute \(name)")
      append(PreservedKey.attribute(prefix + name), value)
    }
  }

  /// Keeps an element that the model has no place for.
  ///
  /// - Parameter place: the place of the parent element, if the metadata is not the parent's own.
  mutating func keep(
    _ element: RawElement, of parent: String, at place: String? = nil, _ context: inout ReadingContext
  ) {
    var object = element.json
    if let place, case .object(var members) = object {
      members["in"] = .string(place)
      object = .object(members)
    }
    if let text = context.kept(object, called: "\(parent)/\(element.name)", line: element.line) {
      append(PreservedKey.element(element.name), text)
    }
  }

  // MARK: MetadataEntry

  /// Reads a `MetadataEntry` of a tree. An entry without a key is kept as an unknown element.
  mutating func read(_ element: RawElement, _ context: inout ReadingContext) {
    context.noticeLine = element.line
    var attributes = element.attributes
    guard let key = attributes.take("key") else {
      return keep(element, of: "MetadataEntry without a key", &context)
    }
    let value = attributes.take("value") ?? ""
    if !attributes.isEmpty || !element.children.isEmpty {
      let place = place(ofEntry: key, value)
      keep(rest: attributes, of: "MetadataEntry", prefix: "\(place).", &context)
      for child in element.children { keep(child, of: "MetadataEntry", at: place, &context) }
    }
    append(key, value)
  }

  /// Returns the place of a `MetadataEntry` that comes after these entries, numbered as ``metadata(_:)`` numbers
  /// keys.
  mutating func place(ofEntry key: String, _ value: String) -> String {
    for entry in entries[numberedCount...] {
      let next = numbers[entry.key, default: [:]].count + 1
      if numbers[entry.key]?[entry.value] == nil { numbers[entry.key, default: [:]][entry.value] = next }
    }
    numberedCount = entries.count
    let values = numbers[key, default: [:]]
    return PreservedKey.place("MetadataEntry.\(key)", values[value] ?? values.count + 1)
  }

  /// Returns the entries as metadata. Equal entries are stored once; another value under the same key becomes
  /// `key#2`.
  func metadata(_ context: inout ReadingContext) -> Metadata {
    var result = Metadata(minimumCapacity: entries.count)
    var repeated: [(key: String, value: String)] = []
    for (key, text) in entries {
      guard let earlier = result.updateValue(.string(text), forKey: key) else { continue }
      result[key] = earlier
      if earlier != .string(text) { repeated.append((key, text)) }
    }
    if repeated.isEmpty { return result }
    var seen: [String: Set<String>] = [:]
    var numbers: [String: Int] = [:]
    for (key, text) in repeated where seen[key, default: []].insert(text).inserted {
      context.remark("metadata key given twice")
      var number = numbers[key, default: 1] + 1
      while result["\(key)#\(number)"] != nil { number += 1 }
      numbers[key] = number
      result["\(key)#\(number)"] = .string(text)
    }
    return result
  }
}

/// The names of metadata entries for data that the model has no place for.
///
/// Data of an element without metadata is stored with the element's parent, and the name contains the place of the
/// element: `MetadataEntry.HKTimeZone`, `WorkoutStatistics.HKQuantityTypeIdentifierHeartRate`, `Attachment#2`.
enum PreservedKey {
  static let attributePrefix = "hpeer.attribute."
  static let elementPrefix = "hpeer.element."

  /// Returns the metadata key of an attribute. For an attribute of a child, `name` begins with the place and a full
  /// stop.
  static func attribute(_ name: String) -> String { attributePrefix + name }

  /// Returns the metadata key of an element.
  static func element(_ name: String) -> String { elementPrefix + name }

  /// Returns the place of the `number`th element with this name in its parent.
  static func place(_ name: String, _ number: Int) -> String { number > 1 ? "\(name)#\(number)" : name }
}
