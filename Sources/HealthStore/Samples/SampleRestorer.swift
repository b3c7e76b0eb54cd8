import Foundation
import GRDB
import HealthModel

/// Brings back samples that are deleted here, from a file that has them.
///
/// A store keeps nothing of a deleted sample but its identity, because who deletes something wants it gone. And a
/// deletion always wins, so what is brought back has a new identity: ``SampleIdentity/uuid(ofRestored:ordinal:)``.
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
  /// Identities that have been counted: a file may say a sample twice.
  private var counted: [SampleType: Set<UUID>] = [:]
  /// From the first to the last start of what ``survey(_:twins:)`` found, for each type of which it found any.
  public private(set) var extents: [SampleType: ClosedRange<Timestamp>] = [:]

  /// - Parameters:
  ///   - filter: what is meant, as the file has it.
  ///   - isExport: whether the file is an Apple Health export. What it brings back, a snapshot that lacks it takes away.
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

  /// How many samples ``survey(_:twins:)`` has found.
  public var found: Int { counted.values.reduce(0) { $0 + $1.count } }

  /// The same, of one type.
  public func found(_ type: SampleType) -> Int { counted[type]?.count ?? 0 }

  /// Counts what of these samples is deleted here, and changes nothing.
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

  /// Adds them, in one transaction.
  ///
  /// - Parameter event: what the audit log gets to hold for so many of a type, together with them.
  /// - Returns: how many there were.
  @discardableResult
  public func restore(
    _ changes: CodedChanges, twins: [TwinGroup] = [], event: ((_ type: SampleType, _ count: Int) -> AuditEvent)? = nil
  ) throws(StoreError) -> WriteSummary {
    // Most batches have nothing that is deleted, and others may write meanwhile.
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

  /// What of these samples is deleted, under the identities that it would have.
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

  /// Of several records of a key those that were deleted, with what their tombstones name; one that is alone with its key as
  /// any other.
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
        // Of which nothing was ever deleted.
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
      // The file may have been written when the sample had been brought back before.
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

  /// - Parameter isWanted: of each type of the changes.
  private func selected(_ changes: CodedChanges, _ isWanted: [Bool]) -> [CodedSample] {
    let sources = changes.sources.map { filter.passes(source: $0.name) }
    return changes.samples.filter {
      isWanted[Int($0.type)] && sources[Int($0.source)] && filter.passes(start: $0.start)
    }
  }
}

/// Samples that are here and hidden, because what they say was deleted under another identity.
private struct HiddenSamples {
  private let db: Database
  private var visibility: Visibility
  /// Of two equal samples, each is hidden by a deletion of its own.
  private var used: Set<UUID> = []

  init(_ db: Database) {
    self.db = db
    visibility = Visibility(db)
  }

  /// The UUID of the deleted sample whose restoration shows this one again.
  mutating func deletion(hiding sample: CodedSample, type: Int64) throws -> UUID? {
    var query = try Binding(
      db, "SELECT change, start FROM sample WHERE type = ? AND start BETWEEN ? AND ? AND uuid = ? LIMIT 1")
    query.bind(type: type, start: sample.start.microseconds, sample.uuid)
    guard let (change, start) = try query.integers(db) else { return nil }
    let hiding = try visibility.deletions(hiding: change, type: type, start: start)
    return hiding.first { used.insert($0).inserted }
  }
}
