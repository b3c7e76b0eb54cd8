import HealthModel

/// The kind of an element that becomes a sample, which is the first part of its identity.
enum ElementKind: Hashable {
  case record
  case correlation
  case workout
  /// Any other element, by name and, if it has one, its `identifier`.
  case other(name: String, identifier: String?)

  /// The text of the kind in ``SampleIdentity``.
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

  /// Creates the kind with the same hash as the kind whose ``identity`` is given.
  init(identity: String) {
    switch identity {
    case "record": self = .record
    case "correlation": self = .correlation
    case "workout": self = .workout
    default: self = .other(name: identity, identifier: nil)
    }
  }
}

// These kinds separate samples whose keys differ in nothing else. The model knows those of samples with side files:
// ``SampleKey/sideFileIdentity(_:ordinal:)``.
extension ElementKind {
  static let workoutRoute = ElementKind.other(name: "WorkoutRoute", identifier: nil)
  /// A GPX file that no workout names.
  static let track = ElementKind.other(name: "GPX", identifier: nil)
  static let electrocardiogram = ElementKind.other(name: "Electrocardiogram", identifier: nil)

  /// The kind of a route without points. It has an identity of its own, so that a later import that has the points
  /// adds them.
  var withoutPoints: ElementKind { identified(by: "empty") }

  /// Returns the kind of a sample that holds a part of a route's points.
  ///
  /// - Parameter number: the number of the part. Part 1 has the route's own kind.
  func part(_ number: Int) -> ElementKind { number == 1 ? self : identified(by: "part \(number)") }

  /// Returns the kind of a clinical record that has its resource. It has an identity of its own, so that a later
  /// import that has the resource adds it; the record without it is then deleted.
  static func clinicalRecord(withResource identifier: String) -> ElementKind {
    .other(name: "ClinicalRecord", identifier: "\(identifier):resource")
  }

  /// Returns the kind of an element without a date, whose identity is made from all of its content.
  static func undated(_ name: String, _ draft: Draft) -> ElementKind {
    let (sample, entries) = (draft.sample, draft.metadata.entries)
    let content = [(try? CodedPayload(sample.payload))?.json ?? ""] + entries.flatMap { [$0.key, $0.value] }
    let identity = SampleIdentity.uuid(
      kind: content.joined(separator: "\u{1F}"), type: sample.type, source: "", start: sample.start,
      end: sample.start, created: nil, ordinal: 0)
    return .other(name: name, identifier: identity.uuidString)
  }

  private func identified(by identifier: String) -> ElementKind {
    if case .other(let name, _) = self { .other(name: name, identifier: identifier) } else { self }
  }
}
