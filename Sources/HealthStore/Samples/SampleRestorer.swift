import Foundation
import GRDB
import HealthModel

/// A restorer of samples that are deleted in the store, from a file that contains them.
///
/// A store keeps only the identity of a deleted sample, because the user wants its content gone. Because a deletion
/// always wins, a restored sample gets a new identity: ``SampleIdentity/uuid(ofRestored:ordinal:)``.
///
/// ```swift
/// func restore(
///   _ batches: [CodedChanges], _ samples: SampleFilter, in store: HealthStore, ask: (_ found: Int) -> Bool
/// ) throws {
///   let restorer = SampleRestorer(store, samples)
///   for batch in batches { try restorer.survey(batch) }
///   guard ask(restorer.found) else { return }
///   for batch in batches { try restorer.restore(batch) }
/// }
/// ```
///
/// Blocking, and for one thread.
public final class SampleRestorer {
  private let store: HealthStore
  private let filter: SampleFilter
  private let isExport: Bool
  private let isCancelled: @Sendable () -> Bool
  /// The identities that have been counted, because a file may contain a sample twice.
  private var counted: [SampleType: Set<UUID>] = [:]
  /// The range from the first to the last start of the samples that ``survey(_:twins:)`` found, by type.
  public private(set) var extents: [SampleType: ClosedRange<Timestamp>] = [:]

  /// Creates a restorer.
  ///
  /// - Parameters:
  ///   - filter: the samples to restore, as the file has them.
  ///   - isExport: whether the file is an Apple Health export. A later export that lacks a restored sample then
  ///     removes it again.
  ///   - isCancelled: ends a wait for another process that writes.
  public init(
    _ store: HealthStore, _ filter: SampleFilter, isExport: Bool = false,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    self.store = store
    self.isExport = isExport
    self.isCancelled = isCancelled
    self.filter = filter
  }

  /// The number of deleted samples that ``survey(_:twins:)`` has found.
  public var found: Int { counted.values.reduce(0) { $0 + $1.count } }

  /// Returns the number of deleted samples of one type that ``survey(_:twins:)`` has found.
  public func found(_ type: SampleType) -> Int { counted[type]?.count ?? 0 }

  /// Counts the samples that are deleted in the store. Changes nothing.
  public func survey(_ changes: CodedChanges, twins: [TwinGroup] = []) throws(StoreError) {
    for candidates in try candidates(changes, twins) {
      for sample in candidates.samples {
        let type = candidates.types[Int(sample.type)]
        guard counted[type, default: []].insert(sample.uuid).inserted else { continue }
        let (first, last) = (extents[type]?.lowerBound ?? sample.start, extents[type]?.upperBound ?? sample.start)
        extents[type] = min(first, sample.start)...max(last, sample.start)
      }
    }
  }

  /// Restores the deleted samples among these, in one transaction.
  ///
  /// - Parameter event: returns the audit event for a type and the number of its restored samples. It is written in
  ///   the same transaction.
  /// - Returns: the counts of restored samples.
  @discardableResult
  public func restore(
    _ changes: CodedChanges, twins: [TwinGroup] = [], event: ((_ type: SampleType, _ count: Int) -> AuditEvent)? = nil
  ) throws(StoreError) -> WriteSummary {
    // Most batches contain no deleted samples, and other processes may write meanwhile.
    if try candidates(changes, twins).allSatisfy(\.isEmpty) { return WriteSummary() }
    try store.requireRoomBlocking()
    return try store.writeBlocking(isCancelled) { db in
      let trail = self.isExport ? try ImportTrail(db) : nil
      var writer = try SampleWriter(
        db, epochs: self.store.epochs, now: self.store.now, trail: trail, road: self.isExport ? .appleExport : .file)
      for candidates in try self.candidates(changes, twins, db) { try writer.write(candidates) }
      try writer.finish()
      if let event {
        for (type, counts) in writer.summary.types.sorted(by: { SampleType.utf8Order($0.key, $1.key) })
        where counts.added > 0 {
          try AuditChain.append(event(type, counts.added), db)
        }
      }
      return writer.summary
    }
  }

  private func candidates(_ changes: CodedChanges, _ twins: [TwinGroup]) throws(StoreError) -> [CodedChanges] {
    let mayHave =
      twins.contains { filter.passes($0.key.type) } || !selected(changes, changes.types.map(filter.passes)).isEmpty
    guard mayHave else { return [] }
    do {
      return try store.pool.read { db in try self.candidates(changes, twins, db) }
    } catch {
      throw StoreError(error, path: store.path)
    }
  }

  /// Returns the deleted samples among these, with the identities that they would get.
  private func candidates(_ changes: CodedChanges, _ twins: [TwinGroup], _ db: Database) throws -> [CodedChanges] {
    var coder = ChangeCoder()
    for group in twins where filter.passes(group.key.type) && !group.hasSideFiles {
      for sample in try deleted(group, db) { try coder.add(sample) }
    }
    for group in twins where filter.passes(group.key.type) && group.hasSideFiles {
      for (ordinal, sample) in zip(try TwinOrdinals(group, db).ordinals, group.samples) {
        var sample = sample
        sample.uuid = group.key.uuid(ordinal: ordinal)
        try coder.add(sample)
      }
    }
    return [try restorable(changes, db), try restorable(coder.changes, db)]
  }

  /// Returns the deleted records of a key, under the identities in their tombstones. A single record of a key is
  /// returned as it is.
  private func deleted(_ group: TwinGroup, _ db: Database) throws -> [Sample] {
    guard let type = try group.key.type.id(in: db) else { return [] }
    let start = Timestamp(seconds: group.key.start).microseconds
    let statements = KeyStatement.all(
      of: group.samples, key: group.key.uuid(ordinal: 0), said: Timestamp(microseconds: 0))
    let deletions = DeletedSamples(db)
    return try zip(group.samples, statements).compactMap { sample, statement in
      var sample = sample
      if try deletions.isDeleted(statement.content, start: start, type: type) {
        sample.uuid = statement.content
      } else if group.samples.count == 1 {
        sample.uuid = statement.key
      } else {
        return nil
      }
      return sample
    }
  }

  private func restorable(_ changes: CodedChanges, _ db: Database) throws -> CodedChanges {
    var result = changes
    result.tombstones = []
    result.samples = []
    var types: [Int64?] = []
    var tallies: [Int64: TypeTally] = [:]
    for type in changes.types {
      var id = filter.passes(type) ? try type.id(in: db) : nil
      if let known = id {
        let tally = try TypeTally(known, db)
        tallies[known] = tally
        // No sample of this type was ever deleted.
        if !tally.hasTombstones { id = nil }
      }
      types.append(id)
    }
    var deletions = DeletedSamples(db)
    var hidden = HiddenSamples(db)
    for sample in selected(changes, types.map { $0 != nil }) {
      guard let id = types[Int(sample.type)] else { continue }
      let start = sample.start.microseconds
      let identity = sample.statement.map { changes.statements[Int($0)].content } ?? sample.uuid
      guard try deletions.isDeleted(identity, start: start, type: id) else {
        if let deleted = try hidden.deletion(hiding: sample, type: id) {
          var restored = sample
          restored.uuid = try deletions.restoration(of: deleted, start: start, type: id)
          result.samples.append(restored)
        }
        continue
      }
      // The file may contain a sample that was restored before it was written.
      var restored = sample
      restored.uuid = try deletions.root(of: identity, start: start, type: id)
      restored.statement = nil
      let mayHaveOriginal = tallies[id]?.hasOriginal ?? false
      guard try !deletions.isHere(restored, in: changes, type: id, mayHaveOriginal: mayHaveOriginal) else { continue }
      restored.uuid = try deletions.restoration(of: restored.uuid, start: start, type: id)
      result.samples.append(restored)
    }
    return result
  }

  /// Returns the samples that pass the filter.
  ///
  /// - Parameter isWanted: whether each type of the changes is wanted.
  private func selected(_ changes: CodedChanges, _ isWanted: [Bool]) -> [CodedSample] {
    let sources = changes.sources.map { filter.passes(source: $0.name) }
    return changes.samples.filter {
      isWanted[Int($0.type)] && sources[Int($0.source)] && filter.passes(start: $0.start)
    }
  }
}

/// A finder of stored samples that are hidden because a sample with the same content was deleted under another
/// identity.
private struct HiddenSamples {
  private let db: Database
  private var visibility: Visibility
  /// The deletions that were used. Each of two equal samples is hidden by its own deletion.
  private var used: Set<UUID> = []

  init(_ db: Database) {
    self.db = db
    visibility = Visibility(db)
  }

  /// Returns the UUID of the deleted sample whose restoration shows this sample again.
  mutating func deletion(hiding sample: CodedSample, type: Int64) throws -> UUID? {
    var query = try Binding(
      db, "SELECT change, start FROM sample WHERE type = ? AND start BETWEEN ? AND ? AND uuid = ? LIMIT 1")
    query.bind(type: type, start: sample.start.microseconds, sample.uuid)
    guard let (change, start) = try query.integers(db) else { return nil }
    let hiding = try visibility.deletions(hiding: change, type: type, start: start)
    return hiding.first { used.insert($0).inserted }
  }
}
