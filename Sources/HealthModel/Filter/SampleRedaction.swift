/// A redaction of samples for a reader who may see only what passes a filter. For example, a correlation names
/// members and a workout summarizes samples that the reader may not see.
///
/// A limit to sources removes nothing from a sample: everything in it is attributed to its own source.
///
/// All protocols and exports use this type. A redacted sample is marked as partial, so that an unredacted copy
/// replaces it (``Payload/isBetterCopy(than:)``).
///
/// ```swift
/// func shown(_ workout: Sample) -> Sample {
///   let scope = SampleFilter(types: [.workout, SampleType("HKQuantityTypeIdentifierHeartRate")])
///   return scope.cut.applied(to: workout)  // Without its statistics of other types.
/// }
/// ```
public struct SampleRedaction: Hashable, Sendable {
  /// The filter that the reader is limited to.
  public let scope: SampleFilter

  /// Creates a redaction.
  ///
  /// - Parameter scope: the filter that the reader is limited to; ``SampleFilter/everything`` removes nothing.
  public init(_ scope: SampleFilter) {
    self.scope = scope
  }

  /// The kinds of ``ScopedPayload``, which contain information about other samples.
  public static let kinds = Set(Payload.contentTypes.filter { $0 is any ScopedPayload.Type }.map { $0.kind })

  /// Whether the scope has no limit by type or time, so that nothing is ever removed.
  public var isWhole: Bool { scope.types == nil && scope.range == nil }

  /// Returns the sample without its information about samples that the reader may not see. Whether the reader may see
  /// the sample itself is not checked here.
  public func applied(to sample: Sample) -> Sample {
    var cut = sample
    apply(to: &cut.payload, &cut.metadata)
    return cut
  }

  /// Applies the same redaction to the payload and metadata of a sample.
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

  /// Returns whether information about `type` may be shown. Without a start it belongs to the sample's own time.
  func shows(_ type: SampleType, _ start: Timestamp?) -> Bool {
    scope.passes(type) && start.map(scope.passes(start:)) ?? true
  }

  /// Removes metadata in which an import kept unknown elements and attributes, because they may describe any sample.
  func hide(_ metadata: inout Metadata) {
    metadata = metadata.filter { entry in !Self.keptPrefixes.contains { entry.key.begins(with: $0) } }
  }

  private static let keptPrefixes = ["hpeer.element.", "hpeer.attribute."]
}

/// A payload with information about other samples, which not every reader may see.
package protocol ScopedPayload: SamplePayload {
  /// Whether information was removed for a reader who may not see it.
  var isPartial: Bool { get set }

  /// The number of statements about other samples.
  var statements: Int { get }

  /// Removes information about samples that `cut` hides. The caller sets ``isPartial``.
  mutating func hide(from cut: SampleRedaction)
}

extension Payload {
  /// Whether information was removed for a reader who may not see it.
  public var isPartial: Bool {
    (content as? any ScopedPayload)?.isPartial ?? false
  }

  /// Returns whether a copy with this payload replaces a copy with `other`. A complete payload replaces a partial
  /// one. Of two partial payloads the one with more statements wins, then the one whose text comes first, so that all
  /// machines keep the same copy.
  public func isBetterCopy(than other: Payload) throws -> Bool {
    guard kind == other.kind, let theirs = other.content as? any ScopedPayload, theirs.isPartial else { return false }
    guard let mine = content as? any ScopedPayload, mine.isPartial else { return true }
    if mine.statements != theirs.statements { return mine.statements > theirs.statements }
    let (text, otherText) = (try CodedPayload(self).json ?? "", try CodedPayload(other).json ?? "")
    return text.utf8.lexicographicallyPrecedes(otherText.utf8)
  }
}
