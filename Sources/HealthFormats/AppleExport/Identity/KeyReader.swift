import HealthModel

/// A reader of the attributes that an element's identity is made from. Both passes over a file use it, so that they
/// agree.
struct KeyReader: ~Copyable {
  struct Key {
    var kind: ElementKind
    var type: InternedText
    var source: InternedText
    var start: Timestamp
    var end: Timestamp
    var created: Timestamp?
    /// A hash of the other fields except the source, with dates in whole seconds. The source is left out because two
    /// source names may be the same source in identities.
    var hash: UInt64
    var problems: Problems
  }

  struct Problems: OptionSet {
    let rawValue: UInt8
    static let unreadableEnd = Problems(rawValue: 1)
    static let unreadableCreated = Problems(rawValue: 2)
    static let noOffset = Problems(rawValue: 4)
    static let noSource = Problems(rawValue: 8)
    static let twelveHours = Problems(rawValue: 16)
  }

  enum Failure: Error {
    case noType
    case noStart
    case unreadableStart
  }

  private var types = ByteInterner<InternedText>()
  private var sources = ByteInterner<InternedText>()
  var dates = DateReader()

  /// Reads the key of the current element.
  ///
  /// - Parameter kind: the kind of the element; for ``ElementKind/other(name:identifier:)``, the name alone.
  mutating func key(
    _ kind: ElementKind, _ attributes: CommonAttributes, in scanner: borrowing XMLScanner
  ) throws(Failure) -> Key {
    var kind = kind
    var problems: Problems = []
    var startBytes = attributes.start
    if case .other(let name, _) = kind {
      kind = .other(name: name, identifier: scanner.text(of: "identifier", among: attributes.others))
      startBytes = Self.start(attributes, in: scanner)
    }
    let type: InternedText
    if kind != .workout, let bytes = attributes.type {
      type = types.value(of: bytes, make: InternedText.init)
    } else {
      type = try Self.typeWithoutName(kind)
    }
    guard let startBytes else { throw .noStart }
    guard let start = read(startBytes) else { throw .unreadableStart }
    note(start, in: &problems)
    var end = start.date
    if let bytes = attributes.end {
      if let reading = read(bytes) {
        end = reading.date
        note(reading, in: &problems)
      } else {
        problems.insert(.unreadableEnd)
      }
    }
    var created: Timestamp?
    if let bytes = attributes.created {
      let reading = read(bytes)
      created = reading?.date
      if reading == nil { problems.insert(.unreadableCreated) }
      if let reading { note(reading, in: &problems) }
    }
    if attributes.source == nil { problems.insert(.noSource) }
    let source = attributes.source.map { sources.value(of: $0, make: InternedText.init) } ?? Self.noText
    let hash = Self.hash(kind: kind.hash, type: type.hash, start: start.date, end: end, created: created)
    return Key(
      kind: kind, type: type, source: source, start: start.date, end: end, created: created, hash: hash,
      problems: problems)
  }

  /// Returns whether an element other than a record, correlation or workout has a readable date.
  mutating func hasDate(_ attributes: CommonAttributes, in scanner: borrowing XMLScanner) -> Bool {
    Self.start(attributes, in: scanner).flatMap { read($0) } != nil
  }

  /// Returns the start date of an element other than a record, correlation or workout.
  private static func start(_ attributes: CommonAttributes, in scanner: borrowing XMLScanner) -> Bytes? {
    if let start = attributes.start { return start }
    for name in AppleElements.startAttributes {
      if let bytes = scanner.bytes(of: name, among: attributes.others) { return bytes }
    }
    return nil
  }

  /// Reads a date. Only files that were rewritten by other programs have character references in dates.
  private mutating func read(_ bytes: Bytes) -> DateReader.Reading? {
    if let reading = dates.read(bytes) { return reading }
    return bytes.firstIndex(of: UInt8(ascii: "&")) == nil ? nil : dates.read(XMLText.decode(bytes))
  }

  static func hash(kind: UInt64, type: UInt64, start: Timestamp, end: Timestamp, created: Timestamp?) -> UInt64 {
    kind.folded(with: type).folded(with: UInt64(bitPattern: start.seconds))
      .folded(with: UInt64(bitPattern: end.seconds)).folded(with: UInt64(bitPattern: created?.seconds ?? .min))
  }

  /// Returns the hash of a key from a store.
  static func hash(of key: SampleKey) -> UInt64 {
    hash(
      kind: ElementKind(identity: key.kind).hash, type: InternedText(key.type.rawValue).hash,
      start: Timestamp(seconds: key.start), end: Timestamp(seconds: key.end),
      created: key.created.map(Timestamp.init(seconds:)))
  }

  private func note(_ reading: DateReader.Reading, in problems: inout Problems) {
    if !reading.hasOffset { problems.insert(.noOffset) }
    if reading.isTwelveHours { problems.insert(.twelveHours) }
  }

  /// Reads a date that is not part of a key.
  mutating func date(_ text: String) -> Timestamp? { dates.read(text)?.date }

  private static let noText = InternedText("")
  private static let workout = InternedText(SampleType.workout.rawValue)

  private static func typeWithoutName(_ kind: ElementKind) throws(Failure) -> InternedText {
    switch kind {
    case .workout: workout
    case .other("WorkoutRoute", _): InternedText(SampleType.workoutRoute.rawValue)
    case .other(let name, _): InternedText(AppleElements.named(name)?.typeWithoutName.rawValue ?? name)
    case .record, .correlation: throw .noType
    }
  }
}

extension InternedText {
  init(_ text: String) {
    self.text = text
    hash = text.withBytes(\.stableHash)
    defects = []
  }
}

extension XMLScanner {
  /// Returns the decoded value of the first attribute with this name.
  func text(of name: StaticString) -> String? { text(of: name, among: 0..<attributeCount) }

  /// Returns the value of the first attribute with this name among the given indices.
  func bytes(of name: StaticString, among indices: some Sequence<Int>) -> Bytes? {
    for index in indices where attribute(index).name == name { return attribute(index).value }
    return nil
  }

  func text(of name: StaticString, among indices: some Sequence<Int>) -> String? {
    bytes(of: name, among: indices).map { XMLText.decode($0) }
  }
}
