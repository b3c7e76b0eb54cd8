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
///   _ batches: [CodedChanges], on day: Range<Timestamp>, in store: HealthStore, ask: (_ found: Int) -> Bool
/// ) throws {
///   let restorer = SampleRestorer(store, type: SampleType("HKQuantityTypeIdentifierStepCount"), range: day)
///   for batch in batches { try restorer.survey(batch) }
///   guard ask(restorer.found) else { return }
///   for batch in batches { try restorer.restore(batch) }
/// }
/// ```
///
/// Blocking, and for one thread.
public final class SampleRestorer {
  private let store: HealthStore
  private let type: SampleType
  private let range: Range<Timestamp>
  private let isExport: Bool
  private let isCancelled: @Sendable () -> Bool
  /// Identities that have been counted: a file may say a sample twice.
  private var counted: Set<UUID> = []
  /// From the first to the last start of what ``survey(_:twins:)`` found.
  public private(set) var extent: ClosedRange<Timestamp>?

  /// - Parameters:
  ///   - isExport: whether the file is an Apple Health export. What it brings back, a snapshot that lacks it takes away.
  ///   - isCancelled: ends a wait for another process that writes.
  public init(
    _ store: HealthStore, type: SampleType, range: Range<Timestamp>, isExport: Bool = false,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    self.store = store
    self.isExport = isExport
    self.isCancelled = isCancelled
    self.type = type
    self.range = range
  }

  /// How many samples ``survey(_:twins:)`` has found.
  public var found: Int { counted.count }

  /// Counts what of these samples is deleted here, and changes nothing.
  public func survey(_ changes: CodedChanges, twins: [TwinGroup] = []) throws(StoreError) {
    let candidates = try candidates(changes, twins)
    for sample in candidates.flatMap(\.samples) where counted.insert(sample.uuid).inserted {
      let (first, last) = (extent?.lowerBound ?? sample.start, extent?.upperBound ?? sample.start)
      extent = min(first, sample.start)...max(last, sample.start)
    }
  }

  /// Adds them, in one transaction.
  ///
  /// - Parameter event: what the audit log gets to hold for so many, together with them.
  /// - Returns: how many there were.
  @discardableResult
  public func restore(
    _ changes: CodedChanges, twins: [TwinGroup] = [], event: ((_ count: Int) -> AuditEvent)? = nil
  ) throws(StoreError) -> Int {
    // Most batches have nothing that is deleted, and others may write meanwhile.
    if try candidates(changes, twins).allSatisfy(\.isEmpty) { return 0 }
    return try store.writeBlocking(isCancelled) { db in
      let trail = self.isExport ? try ImportTrail(db) : nil
      var writer = try SampleWriter(
        db, epochs: self.store.epochs, trail: trail, road: self.isExport ? .appleExport : .file)
      for candidates in try self.candidates(changes, twins, db) { try writer.write(candidates) }
      try writer.finish()
      let added = writer.summary.added
      if let event, added > 0 { try AuditChain.append(event(added), db) }
      return added
    }
  }

  private func candidates(_ changes: CodedChanges, _ twins: [TwinGroup]) throws(StoreError) -> [CodedChanges] {
    let mayHave = twins.contains { $0.key.type == type } || !selected(changes).isEmpty
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
    for group in twins where group.key.type == type {
      for (ordinal, sample) in zip(try TwinOrdinals(group, db).ordinals, group.samples) {
        var sample = sample
        sample.uuid = group.key.uuid(ordinal: ordinal)
        try coder.add(sample)
      }
    }
    return [try restorable(changes, db), try restorable(coder.changes, db)]
  }

  private func restorable(_ changes: CodedChanges, _ db: Database) throws -> CodedChanges {
    var result = changes
    result.tombstones = []
    result.samples = []
    guard let id = try type.id(in: db) else { return result }
    let mayHaveOriginal = try TypeTally(id, db).hasOriginal
    var deletions = DeletedSamples(db)
    var hidden = HiddenSamples(db)
    for sample in selected(changes) {
      let start = sample.start.microseconds
      let isReading = Self.isReading(sample, changes)
      if isReading, try KnownIdentities.hasAny(.sample, start: start, type: id, db) { continue }
      guard try deletions.isDeleted(sample.uuid, start: start, type: id) else {
        if let deleted = try hidden.deletion(hiding: sample, type: id) {
          var restored = sample
          restored.uuid = try deletions.restoration(of: deleted, start: start, type: id)
          result.samples.append(restored)
        }
        // Another reading of the same was deleted.
        if isReading, try KnownIdentities.hasAny(.tombstone, start: start, type: id, db) {
          result.samples.append(sample)
        }
        continue
      }
      // The file may have been written when the sample had been brought back before.
      var restored = sample
      restored.uuid = try deletions.root(of: sample.uuid, start: start, type: id)
      guard try !deletions.isHere(restored, in: changes, type: id, mayHaveOriginal: mayHaveOriginal) else { continue }
      restored.uuid = try deletions.restoration(of: restored.uuid, start: start, type: id)
      result.samples.append(restored)
    }
    return result
  }

  private func selected(_ changes: CodedChanges) -> [CodedSample] {
    guard let index = changes.types.firstIndex(of: type) else { return [] }
    return changes.samples.filter { Int($0.type) == index && range.contains($0.start) }
  }

  /// Whether it is a reading of something that changes. Where another is here, the newest counts, and not the deleted one.
  private static func isReading(_ sample: CodedSample, _ changes: CodedChanges) -> Bool {
    Payload.kindsOneAtATime.contains(changes.kinds[Int(sample.kind)])
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
