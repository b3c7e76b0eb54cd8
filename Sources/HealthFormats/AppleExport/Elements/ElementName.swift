/// The name of an element as a small number. Names that the format does not define get numbers of their own.
struct ElementName: Equatable {
  var id: Int32

  static let healthData = ElementName(id: 0)
  static let record = ElementName(id: 1)
  static let metadataEntry = ElementName(id: 2)
  static let heartRateList = ElementName(id: 3)
  static let heartRateBeat = ElementName(id: 4)
  static let correlation = ElementName(id: 5)
  static let workout = ElementName(id: 6)
  static let activitySummary = ElementName(id: 7)
  static let exportDate = ElementName(id: 8)
  static let me = ElementName(id: 9)
  static let location = ElementName(id: 10)
  /// The name of all unknown elements after the first few thousand names.
  static let other = ElementName(id: 11)
  static let workoutRoute = ElementName(id: 12)
  static let fileReference = ElementName(id: 13)

  /// The texts of the names above, by number.
  fileprivate static let texts = [
    "HealthData", "Record", "MetadataEntry", "HeartRateVariabilityMetadataList", "InstantaneousBeatsPerMinute",
    "Correlation", "Workout", "ActivitySummary", "ExportDate", "Me", "Location", "others", "WorkoutRoute",
    "FileReference",
  ]
  /// The names in ``AppleElements`` that are not among ``texts``. Their numbers follow.
  fileprivate static let payloadTexts = AppleElements.all.map { $0.elementName }.filter { !texts.contains($0) }

  /// Whether the element occurs at the top level only. False for `Record`, which also occurs in a `Correlation`.
  var isTopLevel: Bool {
    switch self {
    case .correlation, .workout, .activitySummary, .exportDate, .me: true
    default: (0..<Self.payloadTexts.count).contains(Int(id) - Self.texts.count)
    }
  }
}

/// A table of element names and their numbers.
struct ElementNames: ~Copyable {
  private var texts = ElementName.texts + ElementName.payloadTexts
  private var ids: [String: Int32]
  private var known = ByteInterner<ElementName>(limit: 256)

  init() {
    ids = Dictionary(uniqueKeysWithValues: zip(texts, Int32(0)...))
  }

  mutating func name(of bytes: Bytes) -> ElementName {
    // These two make up nearly all of a file.
    if bytes == "Record" { return .record }
    if bytes == "MetadataEntry" { return .metadataEntry }
    if let name = known.find(bytes) { return name }
    let name = name(ofText: XMLText.decode(Bytes(bytes.start, min(bytes.count, 100))))
    known.insert(bytes, name)
    return name
  }

  private mutating func name(ofText text: String) -> ElementName {
    if let id = ids[text] { return ElementName(id: id) }
    guard texts.count < 4096 else { return .other }
    ids[text] = Int32(texts.count)
    texts.append(text)
    return ElementName(id: Int32(texts.count - 1))
  }

  func text(of name: ElementName) -> String { texts[Int(name.id)] }
}
