import Foundation
import GRDB
import HealthModel

/// A writer of an Apple Health export into a store, one transaction per batch, which remembers which samples the
/// export contains.
///
/// ```swift
/// func write(
///   _ batches: [CodedChanges], _ twins: [TwinGroup], digest: Data, of file: ImportRecord.File,
///   into store: HealthStore
/// ) async throws {
///   let writer = try ImportWriter(store, file)
///   for batch in batches { try writer.write(batch) }
///   try writer.write(twins: twins)
///   try await store.imports.finish(writer.id, digest: digest, isComplete: true)
/// }
/// ```
///
/// Blocking, and for one thread. An interrupted import loses nothing: what was written stays, and importing the file
/// again adds the rest. The last import can be undone: ``HealthStore/Imports/undoLast(isDryRun:)``.
public final class ImportWriter {
  private let store: HealthStore
  /// The identifier of this import; see ``HealthStore/Imports/finish(_:digest:isComplete:isSnapshot:)``. 0 for a file
  /// that is not an export and needs no record.
  public let id: Int64
  /// The identifier of the undo journal; see ``init(_:_:continuing:isCancelled:)``. `nil` while the import has
  /// changed nothing and the previous import can still be undone.
  public var journal: Int64? { undo?.id }
  private let isCancelled: @Sendable () -> Bool
  private let lock: ImportLock
  private let name: String
  private let exported: Timestamp?
  private let started: Timestamp
  private var undo: UndoJournal?
  private let road: SampleRoad
  /// The trail. `nil` while a transaction uses it, after a failed transaction, and for a file that is not an export.
  private var trail: ImportTrail?
  /// Whether the file is complete. An incomplete file may have only some of the records that share a key.
  public var isWhole = true
  /// The counts of all batches so far, including readings and deletions.
  public private(set) var summary = WriteSummary()
  private let checkpoints: WALCheckpoints
  /// The basis on which the file was admitted. Its owner is that of the store after the last batch.
  public private(set) var admission: Admission?

  /// The reason why a file belongs to the store; see ``admit(_:)``.
  public struct Admission: Hashable, Sendable {
    /// The person whose record the file is.
    public var person: Person
    /// The owner of the store when ``person`` was compared with it.
    public var owner: RecordOwner

    /// Creates an admission. `owner` must be the value that the person was compared with, not a newer one.
    public init(_ person: Person, into owner: RecordOwner) {
      (self.person, self.owner) = (person, owner)
    }

    /// Returns whether the file still belongs to the store with its current owner.
    func holds(for now: RecordOwner) -> Bool {
      if now == owner { return true }
      guard person.contradictions(to: now.person).isEmpty else { return false }
      // An empty store that another process has begun to fill may get its person only later.
      return !owner.isEmpty || person[.dateOfBirth] == nil || now.person[.dateOfBirth] != nil
    }
  }

  /// Creates a writer for an Apple Health export.
  ///
  /// - Parameters:
  ///   - journal: the ``journal`` of the previous writer, if several exports are imported, and undone, as one.
  ///   - isCancelled: ends a wait for another process that writes.
  public convenience init(
    _ store: HealthStore, _ file: ImportRecord.File, continuing journal: Int64? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws(StoreError) {
    try self.init(store, file, isExport: true, road: .appleExport, journal: journal, isCancelled: isCancelled)
  }

  /// Creates a writer for another file, which is not a snapshot of all data of a phone.
  ///
  /// - Parameters:
  ///   - name: the file's last path component, for display.
  ///   - confirmed: see ``ImportRecord/File/confirmed``.
  ///   - road: the road by which the samples came into the file.
  ///   - isCancelled: ends a wait for another process that writes.
  public convenience init(
    _ store: HealthStore, named name: String, confirmed: Person? = nil, road: SampleRoad = .file,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) throws(StoreError) {
    let file = ImportRecord.File(name: name, confirmed: confirmed)
    try self.init(store, file, isExport: false, road: road, journal: nil, isCancelled: isCancelled)
  }

  private init(
    _ store: HealthStore, _ file: ImportRecord.File, isExport: Bool, road: SampleRoad, journal: Int64?,
    isCancelled: @escaping @Sendable () -> Bool
  ) throws(StoreError) {
    self.store = store
    self.isCancelled = isCancelled
    self.road = road
    (name, exported) = (file.name, file.exported)
    lock = try ImportLock(shared: store.directory, isCancelled: isCancelled)
    let person = file.person.map { store.hash(of: $0) }
    let confirmed = file.confirmed.map { store.hash(of: $0) }
    let started = store.now
    self.started = started
    (id, trail, undo) = try store.writeBlocking(isCancelled) { db -> (Int64, ImportTrail?, UndoJournal?) in
      guard isExport || confirmed != nil else { return (0, nil, nil) }
      try db.execute(
        sql: """
          INSERT INTO import(started, name, exported, person, confirmedPerson, isComplete, isSnapshot)
          VALUES (?, ?, ?, ?, ?, FALSE, FALSE)
          """,
        arguments: [
          started.microseconds, file.name, file.exported?.microseconds, person, confirmed,
        ])
      let id = db.lastInsertedRowID
      var undo = try journal.flatMap { try UndoJournal.resume($0, db) }
      // The user's confirmation can be undone too.
      if undo == nil, confirmed != nil {
        undo = try UndoJournal.begin(file.name, at: started, import: id, db)
      }
      return (id, isExport ? try ImportTrail(db) : nil, undo)
    }
    do {
      checkpoints = try WALCheckpoints(path: store.path)
    } catch {
      throw StoreError(error, path: store.path)
    }
    // If both connections checkpoint, that is slower but harmless.
    try? store.checkpointsItself(false)
  }

  deinit {
    checkpoints.stop()
    // Without this, the log would grow until the store is closed.
    try? store.checkpointsItself(true)
  }

  /// Sets the admission. Call this before the first batch. A write throws ``StoreError/ownerChanged(path:)`` if
  /// another process has changed the person of the store, or begun to fill an empty store, since the person was
  /// compared with the file.
  public func admit(_ admission: Admission) { self.admission = admission }

  /// Adds samples with identities of their own; see ``HealthStore/applyBlocking(_:readings:)``.
  ///
  /// - Parameter sideFiles: the identities that samples have without or with the files beside the XML, by their
  ///   identities in `changes`.
  public func write(
    _ changes: CodedChanges, readings: [Sample] = [], sideFiles: [UUID: SideFileIdentity] = [:]
  ) throws(StoreError) {
    try write(readings: readings) { db, writer in
      try writer.write(changes, sideFiles: sideFiles)
      if writer.trail != nil { return }
      // Later imports of exports compare the values of these keys.
      for key in try writer.keysWithSeveral(in: changes) where try TwinKeys.insert(key, db) {
        try UndoJournal.added(key, db)
      }
    }
  }

  /// Adds groups of records that share a key. Each group has all current records of its key (``KeyStatement``).
  /// Records with files beside the XML keep their identities if the store has them, and only a value that is new
  /// under its key gets a new identity.
  ///
  /// - Returns: the identities that differ from those of the ranks, by those of the ranks.
  @discardableResult
  public func write(twins groups: [TwinGroup]) throws(StoreError) -> [UUID: UUID] {
    var renamed: [UUID: UUID] = [:]
    // Records with files are written first, because they show which records without files are known.
    let (groups, others) = (groups.filter(\.hasSideFiles), groups.filter { !$0.hasSideFiles })
    let isBare = groups.map { $0.sideFileIdentity(ordinal: 0)?.isBare == false }
    try write { db, writer in
      for group in others { try writer.say(group) }
      for phase in [false, true] where isBare.contains(phase) {
        var coder = ChangeCoder()
        var others: [UUID: SideFileIdentity] = [:]
        for (group, isBare) in zip(groups, isBare) where isBare == phase {
          let ordinals = try TwinOrdinals(group, db).ordinals
          for (rank, (ordinal, sample)) in zip(ordinals, group.samples).enumerated() {
            var sample = sample
            sample.uuid = group.key.uuid(ordinal: ordinal)
            if ordinal != rank { renamed[group.key.uuid(ordinal: rank)] = sample.uuid }
            try coder.add(sample)
          }
          others.merge(try SideFileTwins.others(of: group, ordinals: ordinals, db)) { $1 }
          if (ordinals.max() ?? 0) > 0, try TwinKeys.insert(group.key, db) { try UndoJournal.added(group.key, db) }
        }
        try writer.write(coder.changes, sideFiles: others)
      }
    }
    return renamed
  }

  /// Returns the number of samples that earlier exports contained and this one lacks, among types that this export
  /// contains too.
  public func missing(of types: Set<SampleType>) throws(StoreError) -> MissingSamples {
    do {
      return try store.pool.read { db in
        var missing = MissingSamples()
        var names = TypeNames(db)
        try self.forEachMissing(of: types, &names, db) { missing.counts[$0.sample.type, default: 0] += 1 }
        missing.read = self.summary.types.filter { types.contains($0.key) }
        return missing
      }
    } catch {
      throw StoreError(error, path: store.path)
    }
  }

  /// Deletes the samples that ``missing(of:)`` counts, in transactions of ten thousand.
  public func deleteMissing(of types: Set<SampleType>) throws(StoreError) {
    let tombstones: [Tombstone]
    do {
      tombstones = try store.pool.read { db in
        var tombstones: [Tombstone] = []
        var names = TypeNames(db)
        try self.forEachMissing(of: types, &names, db) { tombstones.append($0) }
        return tombstones
      }
    } catch {
      throw StoreError(error, path: store.path)
    }
    for start in stride(from: 0, to: tombstones.count, by: 10_000) {
      var coder = ChangeCoder()
      for tombstone in tombstones[start..<min(start + 10_000, tombstones.count)] { coder.add(tombstone) }
      let changes = coder.changes
      try write { db, writer in try writer.write(try BareCopies(db).adding(to: changes)) }
    }
  }

  private func write(
    readings: [Sample] = [], _ body: (Database, inout SampleWriter) throws -> Void
  ) throws(StoreError) {
    defer { checkpoints.committed() }
    checkpoints.waitIfLarge()
    try store.requireRoomBlocking()
    do {
      let (written, owner, undo) = try store.writeBlocking(isCancelled) { db in
        if let admission = self.admission, !admission.holds(for: try RecordOwner(db)) {
          throw StoreError.ownerChanged(path: self.store.path)
        }
        var written = WriteSummary()
        var undo = self.undo
        if let undo {
          written = try self.write(readings: readings, undo, db, body)
        } else {
          // An import that changes nothing leaves the previous one undoable.
          var repetitions: [Int64: Timestamp] = [:]
          try db.inSavepoint {
            let begun = try UndoJournal.begin(self.name, at: self.started, import: self.id, db)
            let writes = db.totalChangesCount
            written = try self.write(readings: readings, begun, db, body)
            guard try begun.hasChanges(db) else {
              if db.totalChangesCount > writes { repetitions = try Repetition.all(db) }
              return .rollback
            }
            undo = begun
            return .commit
          }
          for (change, said) in repetitions { try Repetition.noteApart(said, of: change, db) }
        }
        return (written, try self.admission.map { _ in try RecordOwner(db) }, undo)
      }
      if let owner { admission?.owner = owner }
      self.undo = undo
      summary += written
    } catch {
      throw StoreError(error, path: store.path)
    }
  }

  private func write(
    readings: [Sample], _ undo: UndoJournal, _ db: Database, _ body: (Database, inout SampleWriter) throws -> Void
  ) throws -> WriteSummary {
    var writer = try SampleWriter(
      db, epochs: store.epochs, now: store.now, trail: trail.take(), undo: undo, road: road, said: exported)
    writer.isWhole = isWhole
    try body(db, &writer)
    try writer.finish()
    var summary = writer.summary
    trail = writer.takeTrail()
    if !readings.isEmpty {
      summary += try store.add(readings: readings, undo: undo, road: road, db: db)
    }
    return summary
  }

  private func forEachMissing(
    of types: Set<SampleType>, _ names: inout TypeNames, _ db: Database, _ body: (Tombstone) -> Void
  ) throws {
    guard let trail else { return }
    let now = store.now
    var sources = StoredDictionary.sourceNames
    let statement = try db.cachedStatement(
      sql: "SELECT type, start, uuid, duration, source, road, value, unit, statement FROM sample WHERE change = ?")
    var units = StoredDictionary.units
    try trail.imported.forEach(notIn: trail.met) { change in
      var query = Binding(statement)
      query.bind(change)
      try query.rows(db) { row in
        let type = try names.name(row.integer(0))
        if types.contains(type), try !stands(row.integer(0), start: row.integer(1), try row.uuid(2), for: trail, db) {
          let start = row.integer(1)
          let unit = try row.optionalInteger(7).map { try units.value(of: $0, db) }
          let quantity = unit.flatMap { unit in row.optionalDouble(6).map { Quantity($0, unit) } }
          let statement = try row.statement(8)
          let uuid = try statement?.content ?? row.uuid(2)
          body(
            Tombstone(
              sample: SampleReference(type: type, start: Timestamp(microseconds: start), uuid: uuid),
              deleted: now, end: Timestamp(microseconds: start &+ row.integer(3)),
              source: try sources.value(of: row.integer(4), db), road: SampleRoad(stored: row.integer(5)),
              hint: quantity.flatMap { ValueHint.of($0, type) }, statement: statement))
        }
        return false
      }
    }
  }

  /// Returns whether a sample is the replacement of a deleted sample that this export contains. The export then
  /// contains the sample too.
  private func stands(
    _ type: Int64, start: Int64, _ uuid: UUID, for trail: ImportTrail, _ db: Database
  ) throws -> Bool {
    var query = try Binding(
      db, "SELECT change FROM tombstone WHERE type = ? AND start BETWEEN ? AND ? AND replaced = ?")
    query.bind(type)
    query.bind(Timestamp(microseconds: start).second)
    query.bind(uuid)
    var isMet = false
    try query.rows(db) { row in
      isMet = trail.met.contains(row.integer(0))
      return !isMet
    }
    return isMet
  }
}

extension HealthStore {
  /// Sets whether the writing connection checkpoints the write-ahead log after transactions, as it usually does.
  fileprivate func checkpointsItself(_ flag: Bool) throws {
    try pool.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA wal_autocheckpoint = \(flag ? 1000 : 0)")
    }
  }
}
