import GRDB

/// The history of a store's change numbers: its epochs, and the number of the last change.
///
/// Save it beside data that was derived from a store and is kept elsewhere. A comparison with the store's current
/// history then shows how far both still agree, which is less than all after a restore or an undone import.
///
/// ```swift
/// func isCurrent(_ kept: FeedHistory, in store: HealthStore) async throws -> Bool {
///   let now = try await store.samples.numbers { try $0.spans.history() }
///   return kept == now
/// }
/// ```
public struct FeedHistory: Hashable, Sendable, Codable {
  /// The first change number of an epoch.
  struct Beginning: Hashable, Codable {
    var first: Int64
    var epoch: Epoch
  }

  var beginnings: [Beginning]
  /// The number of the last change, or 0 before the first.
  public var last: Int64

  init(_ db: Database) throws {
    last = try Schema.counter(db)
    beginnings = try Row.fetchAll(db, sql: "SELECT first, id FROM epoch ORDER BY first").map { row in
      let bytes: [UInt8] = Array(try row.withUnsafeData(atIndex: 1) { $0 ?? .init() })
      return Beginning(first: row[0], epoch: Epoch(id: bytes.reduce(0) { $0 << 8 | UInt64($1) }))
    }
  }

  /// Returns the number up to which two histories have the same changes, or 0 if they have nothing in common.
  public func agreement(with other: FeedHistory) -> Int64 {
    let common = zip(beginnings, other.beginnings).prefix { $0 == $1 }.count
    return max(0, min(end(ofFirst: common), other.end(ofFirst: common)))
  }

  /// Returns whether this history continues the other.
  public func isLater(than other: FeedHistory) -> Bool {
    self != other && agreement(with: other) == other.last && beginnings.count >= other.beginnings.count
  }

  /// Returns the last number that the first `count` epochs cover.
  private func end(ofFirst count: Int) -> Int64 {
    if count == 0 { return 0 }
    return count < beginnings.count ? min(beginnings[count].first - 1, last) : last
  }
}
