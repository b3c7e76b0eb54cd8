import HealthModel

/// What becomes a sample: the first part of its identity.
enum ElementKind: Hashable {
  case record
  case correlation
  case workout
  /// Any other element, by name and, where it has one, its `identifier`.
  case other(name: String, identifier: String?)

  /// The kind in ``SampleIdentity``.
  var identity: String {
    switch self {
    case .record: "record"
    case .correlation: "correlation"
    case .workout: "workout"
    case .other(let name, let identifier): identifier.map { "\(name):\($0)" } ?? name
    }
  }

  var hash: UInt64 {
    switch self {
    case .record: 1
    case .correlation: 2
    case .workout: 3
    case .other: identity.withBytes(\.stableHash)
    }
  }
}

/// All that the identity of a sample is made of, but for its rank among equals.
struct ElementKey: Hashable {
  var kind: ElementKind
  var type: SampleType
  var source: String
  /// Whole seconds.
  var start: Int64
  var end: Int64
  var created: Int64?

  /// - Parameter source: the name of the source that identities use.
  init(kind: ElementKind, sample: Sample, source: String) {
    self.kind = kind
    type = sample.type
    self.source = source
    start = sample.start.seconds
    end = sample.end.seconds
    created = sample.created?.seconds
  }

  /// An order that does not depend on the file.
  static func precedes(_ a: ElementKey, _ b: ElementKey) -> Bool {
    if a.start != b.start { return a.start < b.start }
    if a.end != b.end { return a.end < b.end }
    if a.created != b.created { return a.created ?? .min < b.created ?? .min }
    return (a.kind.identity, a.type.rawValue, a.source) < (b.kind.identity, b.type.rawValue, b.source)
  }
}

extension Sample {
  /// Gives this sample its identity.
  ///
  /// - Parameter name: the name of the source that identities use.
  mutating func identify(as kind: ElementKind, source name: String, ordinal: Int) {
    uuid = SampleIdentity.uuid(
      kind: kind.identity, type: type, source: name, start: start, end: end, created: created, ordinal: ordinal)
  }
}
