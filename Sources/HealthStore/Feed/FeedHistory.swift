import GRDB

/// How a store's sequence of changes came about: its epochs, and the number of the last change.
///
/// Whoever keeps something that was made of a store, in a place of its own, keeps this beside it, and learns later how far
/// both still agree: after a restore, or when an import was undone, that is less than all.
///
/// ```swift
/// func isCurrent(_ kept: FeedHistory, in store: HealthStore) async throws -> Bool {
///   let now = try await store.samples.numbers { try $0.spans.history() }
///   return kept == now
/// }
/// ```
public struct FeedHistory: Hashable, Sendable, Codable {
  /// Where an epoch begins.
  struct Beginning: Hashable, Codable {
    var first: Int64
    var epoch: Epoch
  }

  var beginnings: [Beginning]
  /// The number of the last change; 0 before the first.
  public var last: Int64

  init(_ db: Database) throws {
    last = try Schema.counter(db)
    beginnings = try Row.fetchAll(db, sql: "SELECT first, id FROM epoch ORDER BY first").map { row in
      let bytes: [UInt8] = Array(try row.withUnsafeData(atIndex: 1) { $0 ?? .init() })
      return Beginning(first: row[0], epoch: Epoch(id: bytes.reduce(0) { $0 << 8 | UInt64($1) }))
    }
  }

  /// The number up to which two histories are of the same changes; 0 where they have nothing in common.
  public func agreement(with other: FeedHistory) -> Int64 {
    let common = zip(beginnings, other.beginnings).prefix { $0 == $1 }.count
    return max(0, min(end(ofFirst: common), other.end(ofFirst: common)))
  }

  /// Whether this is the other history, gone on with.
  public func isLater(than other: FeedHistory) -> Bool {
    self != other && agreement(with: other) == other.last && beginnings.count >= other.beginnings.count
  }

  /// The last number that the first epochs cover.
  private func end(ofFirst count: Int) -> Int64 {
    if count == 0 { return 0 }
    return count < beginnings.count ? min(beginnings[count].first - 1, last) : last
  }
}
