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

  /// The kind whose ``identity`` this is, as far as its hash goes.
  init(identity: String) {
    switch identity {
    case "record": self = .record
    case "correlation": self = .correlation
    case "workout": self = .workout
    default: self = .other(name: identity, identifier: nil)
    }
  }
}

// Kinds that tell samples apart whose keys agree but for them. Those of what lies in files are known to the model:
// ``SampleKey/sideFileIdentity(_:ordinal:)``.
extension ElementKind {
  static let workoutRoute = ElementKind.other(name: "WorkoutRoute", identifier: nil)
  /// A GPX file that no workout names.
  static let track = ElementKind.other(name: "GPX", identifier: nil)
  static let electrocardiogram = ElementKind.other(name: "Electrocardiogram", identifier: nil)

  /// A route without points has an identity of its own, so that its points are not missed when a later import has them.
  var withoutPoints: ElementKind { identified(by: "empty") }

  /// The kind of a sample that has some of a route's points.
  ///
  /// - Parameter number: 1 for the first part, which has the route's own.
  func part(_ number: Int) -> ElementKind { number == 1 ? self : identified(by: "part \(number)") }

  /// A record whose resource is there has an identity of its own, so that it is not missed when only a later import has
  /// it; then the one without is deleted.
  static func clinicalRecord(withResource identifier: String) -> ElementKind {
    .other(name: "ClinicalRecord", identifier: "\(identifier):resource")
  }

  /// An element without a date, told from others by all that it says.
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
