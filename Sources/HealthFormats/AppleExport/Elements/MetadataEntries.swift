import HealthModel

/// What becomes the metadata of a sample, in the order of the file: its `MetadataEntry` elements, and what the model has
/// no place for.
///
/// Elements that nothing understands are kept as the text of JSON, `{"element":…,"attributes":{…},"children":[…]}`; one
/// in an element that has no metadata has the place, as ``KeptName`` has it, in `in`.
struct MetadataEntries {
  private(set) var entries: [(key: String, value: String)] = []
  /// Of the first ``numberedCount`` entries, for ``place(ofEntry:_:)``: the number of each value under its key.
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
    append(KeptName.attribute(name), value)
  }

  /// Keeps the attributes that nothing has taken.
  mutating func keep(
    rest attributes: AttributeList, of element: String, prefix: String = "", _ context: inout ReadingContext
  ) {
    for (name, value) in attributes.rest {
      context.remark("\(element) with an unknown attribute \(name)")
      append(KeptName.attribute(prefix + name), value)
    }
  }

  /// Keeps an element that the model has no place for.
  ///
  /// - Parameter place: of the element that it is in, where that is not the one whose metadata it becomes.
  mutating func keep(
    _ element: RawElement, of parent: String, at place: String? = nil, _ context: inout ReadingContext
  ) {
    var object = element.json
    if let place, case .object(var members) = object {
      members["in"] = .string(place)
      object = .object(members)
    }
    if let text = context.kept(object, called: "\(parent)/\(element.name)", line: element.line) {
      append(KeptName.element(element.name), text)
    }
  }

  // MARK: MetadataEntry

  /// Reads a `MetadataEntry` of a tree, which is kept as it is when it has no key.
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

  /// The place of a `MetadataEntry` after these, numbered as ``metadata(_:)`` numbers keys.
  mutating func place(ofEntry key: String, _ value: String) -> String {
    for entry in entries[numberedCount...] {
      let next = numbers[entry.key, default: [:]].count + 1
      if numbers[entry.key]?[entry.value] == nil { numbers[entry.key, default: [:]][entry.value] = next }
    }
    numberedCount = entries.count
    let values = numbers[key, default: [:]]
    return KeptName.place("MetadataEntry.\(key)", values[value] ?? values.count + 1)
  }

  /// Entries as metadata. An entry that says the same twice is one; another value under the same key becomes `key#2`.
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

/// How the metadata of a sample names what the model has no place for.
///
/// What is in an element that has no metadata is with that one's parent, and has the place in its name:
/// `MetadataEntry.HKTimeZone`, `WorkoutStatistics.HKQuantityTypeIdentifierHeartRate`, `Attachment#2`.
enum KeptName {
  static let attributePrefix = "hpeer.attribute."
  static let elementPrefix = "hpeer.element."

  /// The metadata key of an attribute; of one in a child, with the place and a full stop before its name.
  static func attribute(_ name: String) -> String { attributePrefix + name }

  /// The metadata key of an element.
  static func element(_ name: String) -> String { elementPrefix + name }

  /// The name of the `number`th element like this in another.
  static func place(_ name: String, _ number: Int) -> String { number > 1 ? "\(name)#\(number)" : name }
}
