import HealthModel
import HealthStore

/// Rows that the app cannot send, which cost some twenty requests to find: where they were is remembered, and read around.
extension HealthAppTransferWalk {
  /// Notes where such rows are among the newest.
  mutating func note(_ unsendable: [Int]) {
    let offsets = unsendable.filter { $0 < HealthAppTransferRequest.mostRows }.sorted()
    state.unsendable = offsets.isEmpty ? nil : offsets
  }

  /// The newest rows between such as were unsendable at the last look; `nil` where there is nothing between them.
  private static func newest(beside unsendable: [Int]) -> Range<Int>? {
    var first = 0
    while unsendable.contains(first) { first += 1 }
    let end = unsendable.first { $0 > first } ?? HealthAppTransferRequest.mostRows
    return first < end ? first..<end : nil
  }

  /// A look at the newest rows that are not beside an unsendable one. What is new comes before these: it has moved them.
  ///
  /// What arrived late below them is found by the numbers, as below a page without such rows.
  ///
  /// - Returns: `nil` where that does not tell what is new: more than there are rows before the first unsendable one, or
  ///   something was deleted.
  mutating func headBesideUnsendable(_ walk: HeadWalk) async throws -> PhoneStep? {
    guard state.count != nil, let unsendable = state.unsendable, let range = Self.newest(beside: unsendable),
      let page = try await client.pageWithoutUnsendable(of: type, range), !page.rows.isEmpty,
      // The list may end where all of the newest rows were asked for, and not before one that was there.
      page.hasMore || range.upperBound == HealthAppTransferRequest.mostRows
    else { return nil }
    let known = try await store.samples.known(page.rows.map(\.sample.reference))
    let count = page.rows.count {
      known.contains($0.sample.uuid) || handedOn.contains($0.sample.uuid) || latest.0.contains($0.sample.uuid)
        || latest.1.contains($0.sample.uuid)
    }
    // After an unsendable row, the rows are where they were, or others are before it that are new.
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
