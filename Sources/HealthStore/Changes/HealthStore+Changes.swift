import GRDB
import HealthModel

extension HealthStore {
  /// What happened after `anchor`, oldest first, at most `limit` changes; costs what it returns, not what the store
  /// holds. A `limit` below 1 is taken for 1: a page always moves on.
  ///
  /// A sample that was added and deleted since appears as its tombstone only. Throws ``StoreError/anchorOutOfRange``
  /// where the anchor is not a position of this store.
  ///
  /// - Parameter epoch: of the page that the anchor comes from. An anchor whose epoch is another by now, as after a restore
  ///   or when tombstones were forgotten, is out of range. To be left out only for an anchor that is no older than this
  ///   object; where tombstones were ever forgotten, those before the last of them are out of range then, however new.
  public func changes(
    since anchor: Anchor, epoch: Epoch? = nil, filter: ChangeFilter = .everything, limit: Int
  ) async throws(StoreError) -> ChangePage {
    let limit = max(1, limit)
    return try await read { [epochs] db in
      guard let row = try Row.fetchOne(db, sql: "SELECT counter, tombstoneFloor FROM store") else {
        throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the store has no counter")
      }
      let counter: Int64 = row["counter"]
      let floor: Int64 = row["tombstoneFloor"]
      // The epoch, too, tells a reader from before tombstones were forgotten, and from one that has begun since.
      guard anchor.change <= counter, anchor.change == 0 || epoch != nil || anchor.change >= floor else {
        throw StoreError.anchorOutOfRange
      }
      if let epoch, try Epoch.covering(anchor.change, db) != epoch { throw StoreError.anchorOutOfRange }
      epochs.saw(counter)
      let condition = try FilterCondition(filter, db: db)
      let additions = try SampleRow.fetch(
        db, where: "change > \(anchor.change) \(condition.sql) ORDER BY change LIMIT \(limit)")
      let deletions = try Self.fetchTombstones(
        db, where: "change > \(anchor.change) \(condition.sql) ORDER BY change LIMIT \(limit)")
      return try Self.merge(additions, deletions, limit: limit, counter: counter, db: db)
    }
  }

  /// Where the store stands now.
  public func currentAnchor() async throws(StoreError) -> Anchor {
    try await read { db in Anchor(change: try Int64.fetchOne(db, sql: "SELECT counter FROM store") ?? 0) }
  }

  private static func fetchTombstones(_ db: Database, where clause: String) throws -> [(Int64, Tombstone)] {
    let types = TypeNames(db)
    return try Row.fetchAll(db, sql: "SELECT change, type, start, uuid, deleted FROM tombstone WHERE \(clause)").map {
      let reference = SampleReference(
        type: try types.name($0["type"]), start: Timestamp(microseconds: $0["start"]),
        uuid: try SampleRow.uuid($0["uuid"]))
      return ($0["change"], Tombstone(sample: reference, deleted: Timestamp(microseconds: $0["deleted"])))
    }
  }

  private static func merge(
    _ additions: [(Int64, Sample)], _ deletions: [(Int64, Tombstone)], limit: Int, counter: Int64, db: Database
  ) throws -> ChangePage {
    var changes: [Change] = []
    changes.reserveCapacity(min(limit, additions.count + deletions.count))
    var last: Int64 = 0
    var (i, j) = (0, 0)
    while changes.count < limit, i < additions.count || j < deletions.count {
      if j == deletions.count || (i < additions.count && additions[i].0 < deletions[j].0) {
        changes.append(.added(additions[i].1))
        last = additions[i].0
        i += 1
      } else {
        changes.append(.deleted(deletions[j].1))
        last = deletions[j].0
        j += 1
      }
    }
    // A page that is not full has seen everything up to the counter, filtered or not.
    let isLast = changes.count < limit
    let end = isLast ? counter : last
    return ChangePage(
      changes: changes, anchor: Anchor(change: end), epoch: try Epoch.covering(end, db), isLast: isLast)
  }
}

/// A ``ChangeFilter`` as SQL.
struct FilterCondition {
  var sql = ""

  init(_ filter: ChangeFilter, db: Database) throws {
    if let types = filter.types {
      let ids = try types.compactMap { try $0.id(in: db) }
      sql += " AND type IN (\(ids.map(String.init).joined(separator: ",")))"
    }
    if let earliest = filter.earliest { sql += " AND start >= \(earliest.microseconds)" }
  }
}
