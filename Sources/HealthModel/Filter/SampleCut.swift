/// What of a sample a reader may know who may see what passes a filter only: a correlation names members that the reader
/// may not see, a workout sums them up.
///
/// A source says all that its samples say, of whatever: a limit to sources leaves nothing out.
///
/// Every wire asks this one. What was cut is marked as partial, so that a copy which was not takes its place
/// (``Payload/isBetterCopy(than:)``).
///
/// ```swift
/// func shown(_ workout: Sample) -> Sample {
///   let scope = SampleFilter(types: [.workout, SampleType("HKQuantityTypeIdentifierHeartRate")])
///   return scope.cut.applied(to: workout)  // Without its statistics of other types.
/// }
/// ```
public struct SampleCut: Hashable, Sendable {
  /// What the reader may see.
  public let scope: SampleFilter

  /// - Parameter scope: what the reader may see; ``SampleFilter/everything`` cuts nothing.
  public init(_ scope: SampleFilter) {
    self.scope = scope
  }

  /// The kinds of ``ScopedPayload``, which say something of other samples.
  public static let kinds = Set(Payload.contentTypes.filter { $0 is any ScopedPayload.Type }.map { $0.kind })

  /// Whether the scope has all types and all of time, so that nothing is ever left out.
  public var isWhole: Bool { scope.types == nil && scope.range == nil }

  /// The sample without what it says of samples that the reader may not see. Whether the reader may see the sample itself
  /// is not asked here.
  public func applied(to sample: Sample) -> Sample {
    var cut = sample
    apply(to: &cut.payload, &cut.metadata)
    return cut
  }

  /// Does the same to what a sample says, and to its metadata.
  public func apply(to payload: inout Payload, _ metadata: inout Metadata) {
    if isWhole { return }
    switch payload {
    case .quantity, .category, .unknown: return
    default: if let content = payload.content as? any ScopedPayload { payload = cut(content, &metadata) }
    }
  }

  private func cut<Content: ScopedPayload>(_ whole: Content, _ metadata: inout Metadata) -> Payload {
    let entries = metadata.count
    var rest = whole
    rest.hide(from: self)
    hide(&metadata)
    if rest != whole || metadata.count != entries { rest.isPartial = true }
    return rest.payload
  }

  /// What does not say when it started did so with its sample.
  func shows(_ type: SampleType, _ start: Timestamp?) -> Bool {
    scope.passes(type) && start.map(scope.passes(start:)) ?? true
  }

  /// What an import kept of unknown elements and attributes, for want of a better place, may say anything of anything.
  func hide(_ metadata: inout Metadata) {
    metadata = metadata.filter { entry in !Self.keptPrefixes.contains { entry.key.begins(with: $0) } }
  }

  private static let keptPrefixes = ["hpeer.element.", "hpeer.attribute."]
}

/// A kind that says something of other samples, which not every reader may see.
package protocol ScopedPayload: SamplePayload {
  /// Whether something was left out of it for a reader who may not see it.
  var isPartial: Bool { get set }

  /// How much it says of other samples.
  var statements: Int { get }

  /// Leaves out what it says of samples that `cut` hides; ``isPartial`` is set by who calls it.
  mutating func hide(from cut: SampleCut)
}

extension Payload {
  /// Whether something was left out of it for a reader who may not see it.
  public var isPartial: Bool {
    (content as? any ScopedPayload)?.isPartial ?? false
  }

  /// Whether a copy of a sample that says this takes the place of one that says `other`: a whole one that of a partial
  /// one; of two partial ones the one that says more, and of two that say as much, the one whose text comes first, so that
  /// all machines keep the same.
  public func isBetterCopy(than other: Payload) throws -> Bool {
    guard kind == other.kind, let theirs = other.content as? any ScopedPayload, theirs.isPartial else { return false }
    guard let mine = content as? any ScopedPayload, mine.isPartial else { return true }
    if mine.statements != theirs.statements { return mine.statements > theirs.statements }
    let (text, otherText) = (try CodedPayload(self).json ?? "", try CodedPayload(other).json ?? "")
    return text.utf8.lexicographicallyPrecedes(otherText.utf8)
  }
}
