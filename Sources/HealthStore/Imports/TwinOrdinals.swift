import Foundation
import GRDB
import GRDBSQLite
import HealthModel

/// The ordinals of the records of one key in a store that may know some of them.
///
/// A store that has never had the key assigns them by rank, as every other store does. An assigned ordinal stays with
/// its value: a record that appears between two others in a later export must not get the identity of one of them.
struct TwinOrdinals {
  /// The ordinal of each sample of the group, in the group's order.
  private(set) var ordinals: [Int] = []

  init(_ group: TwinGroup, _ db: Database) throws {
    guard let type = try group.key.type.id(in: db) else {
      ordinals = Array(group.samples.indices)
      return
    }
    let start = Timestamp(seconds: group.key.start).microseconds
    let deletions = DeletedSamples(db)
    var present: [(ordinal: Int, sample: Sample)] = []
    var deleted: [Int] = []
    var end = 0
    while true {
      let uuid = group.key.uuid(ordinal: end)
      if let sample = try Self.sample(uuid, start, type, db) {
        present.append((end, sample))
      } else if try deletions.isDeleted(uuid, start: start, type: type) {
        // A restored sample keeps its place.
        if let restored = try deletions.restored(uuid, start: start, type: type),
          let sample = try Self.sample(restored.uuid, start, type, db)
        {
          present.append((end, sample))
        } else {
          deleted.append(end)
        }
      } else if end >= group.samples.count {
        break
      }
      end += 1
    }
    guard !present.isEmpty || !deleted.isEmpty else {
      ordinals = Array(group.samples.indices)
      return
    }
    // A single record of a key is the known one, even if its value has changed.
    if group.samples.count == 1, present.count + deleted.count == 1 {
      ordinals = [present.first?.ordinal ?? deleted[0]]
      return
    }
    var assigned = [Int?](repeating: nil, count: group.samples.count)
    func match(_ agrees: (Sample, Sample) -> Bool) {
      for index in group.samples.indices where assigned[index] == nil {
        guard let found = present.firstIndex(where: { agrees($0.sample, group.samples[index]) }) else { continue }
        assigned[index] = present.remove(at: found).ordinal
      }
    }
    // Two sources may share one identity and have equal values.
    match { $0.source.name == $1.source.name && $0.isEquivalent(to: $1) }
    match { $0.isEquivalent(to: $1) }
    // A workout has more details in later exports. A number does not change.
    match { known, new in
      switch (known.payload, new.payload) {
      case (.quantity, _), (.category, _): false
      default: known.payload.kind == new.payload.kind
      }
    }
    var taken = Set(assigned.compactMap(\.self)).union(present.map(\.ordinal))
    for index in assigned.indices where assigned[index] == nil {
      // A record that is not stored is the deleted one.
      let ordinal = deleted.isEmpty ? (0...).first { !taken.contains($0) } ?? 0 : deleted.removeFirst()
      taken.insert(ordinal)
      assigned[index] = ordinal
    }
    ordinals = assigned.map { $0 ?? 0 }
  }

  private static func sample(_ uuid: UUID, _ start: Int64, _ type: Int64, _ db: Database) throws -> Sample? {
    try StoredSamples.fetch(db, where: "type = ? AND start = ? AND uuid = ?") {
      $0.bind(type)
      $0.bind(start)
      $0.bind(uuid)
    }.first
  }
}

/// The keys that several records share. A later export may contain only one of the records, and its value shows which
/// one.
enum TwinKeys {
  /// Inserts a key.
  ///
  /// - Returns: whether the key is new.
  static func insert(_ key: SampleKey, _ db: Database) throws -> Bool {
    var statement = try Binding(db, "INSERT INTO twin(key) VALUES (?) ON CONFLICT DO NOTHING")
    statement.bind(key.text)
    try statement.run(db)
    return sqlite3_changes(db.sqliteConnection) > 0
  }
}

extension HealthStore.Imports {
  /// Returns the keys that several imported records share. A reader of an export compares the values of their
  /// records.
  public func twinKeys() async throws(StoreError) -> [SampleKey] {
    try await store.read { db in
      var keys: [SampleKey] = []
      try Binding(db, "SELECT key FROM twin").rows(db) { row in
        if let key = row.text(0).flatMap(SampleKey.init(text:)) { keys.append(key) }
        return true
      }
      return keys
    }
  }
}
