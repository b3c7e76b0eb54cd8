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
