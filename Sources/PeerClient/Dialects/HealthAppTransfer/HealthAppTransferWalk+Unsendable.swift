import HealthModel
import HealthStore

/// Handling of rows that the app cannot send. Finding one takes about twenty requests, so their offsets are
/// remembered and skipped.
extension HealthAppTransferWalk {
  /// Remembers the offsets of such rows among the newest.
  mutating func note(_ unsendable: [Int]) {
    let offsets = unsendable.filter { $0 < HealthAppTransferRequest.mostRows }.sorted()
    state.unsendable = offsets.isEmpty ? nil : offsets
  }

  /// Returns the offsets of the newest rows between those that were unsendable in the last read, or `nil` if there
  /// are none.
  private static func newest(beside unsendable: [Int]) -> Range<Int>? {
    var first = 0
    while unsendable.contains(first) { first += 1 }
    let end = unsendable.first { $0 > first } ?? HealthAppTransferRequest.mostRows
    return first < end ? first..<end : nil
  }

  /// Reads the newest rows before or between the unsendable ones. New rows come first and shift the unsendable ones.
  ///
  /// Rows that arrived late below them are found by comparing counts, as after any other page.
  ///
  /// - Returns: `nil` if this does not show what is new: more rows are new than precede the first unsendable one, or
  ///   rows were deleted.
  mutating func headBesideUnsendable(_ walk: HeadWalk) async throws -> PhoneStep? {
    guard state.count != nil, let unsendable = state.unsendable, let range = Self.newest(beside: unsendable),
      let page = try await client.pageWithoutUnsendable(of: type, range), !page.rows.isEmpty,
      // The list may end if all of the newest rows were requested, but not before a row that existed.
      page.hasMore || range.upperBound == HealthAppTransferRequest.mostRows
    else { return nil }
    let known = try await store.samples.known(page.rows.map(\.sample.reference))
    let count = page.rows.count {
      known.contains($0.sample.uuid) || handedOn.contains($0.sample.uuid) || latest.0.contains($0.sample.uuid)
        || latest.1.contains($0.sample.uuid)
    }
    // After an unsendable row, either the rows are unchanged or new rows before it have shifted them.
    guard range.lowerBound == 0 ? count > 0 : count == page.rows.count else { return nil }
    let (new, _) = try await unknown(page.rows)
    add(new)
    note(unsendable.map { $0 + new.count })
    var walk = walk
    if range.lowerBound == 0 { walk.newest = page.rows.first?.second }
    walk.news += new.count
    return PhoneStep(samples: new, isLast: try await settle(walk))
  }
}
