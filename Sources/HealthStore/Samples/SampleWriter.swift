import Foundation
import GRDB
import GRDBSQLite
import HealthModel

/// Writes within one transaction: gives out change numbers, interns dictionary rows, keeps the counts.
///
/// Made and used within a single `write` closure, so that a rollback leaves nothing of it behind.
struct SampleWriter {
  private let db: Database
  private let epochs: EpochKeeper
  private let insertion: SampleInsertion
  private let removal: Statement
  private let burial: Statement
  private let lookup: Statement
  private let search: Statement
  private let firstCounter: Int64
  private var counter: Int64
  /// Counts to be written at the end of the transaction, by type id.
  private var tallies: [Int64: TypeTally] = [:]
  private var counterparts: Counterparts
  private var sideFiles = SideFileCopies(kinds: [])
  private var partialCopies = PartialCopies(kinds: [])
  /// Change numbers of the stored copies that samples of this transaction were matched with. Each is matched once: the
  /// records of a file that agree in all their identities are made of may be told apart by nothing else than that one
  /// lacks its file.
  private var paired: Set<Int64> = []
  /// Change numbers of stored route parts that were matched only because they name the same file as a part that was.
  private var parts: Set<Int64> = []
  private var deletions: DeletedSamples
  private var digestRemovals: DigestRemovals?
  /// Whether the last sample was in the store: then the next mostly is, and a lookup costs less than an insert in vain.
  private var expectsPresent = false
  private var trail: ImportTrail?
  private let undo: UndoJournal?
  private(set) var summary = WriteSummary()

  /// - Parameters:
  ///   - trail: of the import that writes, if that is of an export; to be taken back from ``finish()``.
  ///   - undo: of the import that writes.
  init(_ db: Database, epochs: EpochKeeper, trail: ImportTrail? = nil, undo: UndoJournal? = nil) throws {
    self.db = db
    self.epochs = epochs
    self.trail = trail
    self.undo = undo
    counterparts = Counterparts(db)
    deletions = DeletedSamples(db)
    firstCounter = try Schema.counter(db)
    counter = firstCounter
    insertion = try SampleInsertion(db)
    removal = try db.cachedStatement(
      sql: "DELETE FROM sample WHERE type = ? AND start = ? AND uuid = ? RETURNING change, duration")
    burial = try db.cachedStatement(
      sql: """
        INSERT INTO tombstone(\(StoredChanges.tombstoneColumns), replaced) VALUES (?,?,?,?,?,?)
        ON CONFLICT(type, start, uuid) DO NOTHING
        """)
    lookup = try db.cachedStatement(sql: "SELECT change FROM tombstone WHERE type = ? AND start = ? AND uuid = ?")
    search = try db.cachedStatement(sql: "SELECT change FROM sample WHERE type = ? AND start = ? AND uuid = ?")
  }

  /// Inserts the tombstones, whether or not the store has ever had their samples, and removes what they delete; then
  /// inserts the samples, unless the store has them or a tombstone for them.
  ///
  /// - Parameters:
  ///   - replacements: the UUIDs of the samples that replace deleted ones, by the UUIDs of the deleted.
  ///   - others: by the UUIDs of samples, those that they have without or with their files.
  mutating func write(
    _ changes: CodedChanges, replacements: [UUID: UUID] = [:], sideFiles others: [UUID: SideFileIdentity] = [:]
  ) throws {
    var ids = DictionaryIDs(changes)
    sideFiles = SideFileCopies(kinds: changes.kinds, others: others)
    partialCopies = PartialCopies(kinds: changes.kinds)
    for tombstone in changes.tombstones {
      try delete(
        tombstone, type: try ids.type(tombstone.type, db),
        replacedBy: replacements.isEmpty ? nil : replacements[tombstone.uuid])
    }
    // Neighbours mostly have one type, and a tally in a dictionary costs as much as a binding.
    var run = try Run(type: 0, tally: TypeTally(0, db))
    for (index, sample) in changes.samples.enumerated() {
      let type = try ids.type(sample.type, db)
      if type != run.type {
        try insertWaiting(of: changes, &ids, &run)
        tallies[run.type] = run.tally
        run = try Run(type: type, tally: tallies[type] ?? TypeTally(type, db))
      }
      try add(sample, index, of: changes, &ids, &run)
    }
    try insertWaiting(of: changes, &ids, &run)
    tallies[run.type] = run.tally
    tallies[0] = nil
  }

  /// Neighbouring samples of one type.
  private struct Run {
    /// The row id of the type.
    var type: Int64
    var tally: TypeTally
    /// The indices of samples that are still to be inserted.
    var waiting: [Int] = []
    var hasWaitingDerived = false
    var hasWaitingOriginal = false

    init(type: Int64, tally: TypeTally) {
      (self.type, self.tally) = (type, tally)
      waiting.reserveCapacity(SampleInsertion.rowLimit)
    }

    mutating func wait(_ index: Int, isDerived: Bool) {
      waiting.append(index)
      if isDerived { hasWaitingDerived = true } else { hasWaitingOriginal = true }
    }

    /// Whether the sample may be one with another that came, or comes, another way.
    func mayHaveCounterpart(isDerived: Bool) -> Bool {
      isDerived ? tally.hasOriginal || hasWaitingOriginal : tally.hasDerived || hasWaitingDerived
    }
  }

  /// Nothing, if the store has the sample and no less of it, has seen it deleted, or has its original.
  private mutating func add(
    _ sample: CodedSample, _ index: Int, of changes: CodedChanges, _ ids: inout DictionaryIDs, _ run: inout Run
  ) throws {
    if expectsPresent {
      if let number = try number(of: sample, type: run.type) {
        if try replace(number, by: index, of: changes, &ids, &run) { return }
        return meet(number, of: sample, &run.tally)
      }
      expectsPresent = false
    }
    if run.tally.hasTombstones,
      let deletion = try deletion(of: sample.uuid, start: sample.start.microseconds, type: run.type)
    {
      return try refuse(sample, in: changes, deletion, &run)
    }
    if sideFiles.concern(sample) {
      try insertWaiting(of: changes, &ids, &run)
      if try isCopy(sample, in: changes, &run) { return }
    }
    // An original that has been brought back has a derived UUID, and is what it was still.
    let restored =
      run.tally.hasTombstones
      ? try deletions.restorations(at: sample.start.microseconds, type: run.type, ofDerived: false) : [:]
    let isDerived = sample.uuid.isDerived && restored[sample.uuid] == nil
    guard run.mayHaveCounterpart(isDerived: isDerived) || !restored.isEmpty else {
      run.wait(index, isDerived: isDerived)
      if run.waiting.count == SampleInsertion.rowLimit { try insertWaiting(of: changes, &ids, &run) }
      return
    }
    try insertWaiting(of: changes, &ids, &run)
    if isDerived,
      let original = try counterparts.original(of: sample, in: changes, type: run.type, restored: restored)
    {
      let here = try number(of: sample, type: run.type)
      try bury(
        CodedTombstone(type: sample.type, start: sample.start, uuid: sample.uuid, deleted: .now), type: run.type,
        replacedBy: original, &run.tally)
      if here == nil { run.tally.unchanged += 1 }
      return
    }
    run.wait(index, isDerived: sample.uuid.isDerived)
    let added = run.tally.added
    try insertWaiting(of: changes, &ids, &run)
    if !isDerived, run.tally.added > added,
      let derived = try counterparts.derived(of: sample, in: changes, type: run.type, restored: restored)
    {
      try bury(derived, type: run.type, replacedBy: sample.uuid, &run.tally)
    }
  }

  private mutating func insertWaiting(
    of changes: CodedChanges, _ ids: inout DictionaryIDs, _ run: inout Run
  ) throws {
    if run.waiting.isEmpty { return }
    var better: [Int] = []
    let numbers = try insertion.insert(run.waiting, of: changes, type: run.type, first: counter + 1, &ids)
    for (index, number) in zip(run.waiting, numbers) {
      let sample = changes.samples[index]
      if let number {
        counter = number
        _ = trail?.meet(number)
        run.tally.added += 1
        if sample.uuid.isDerived { run.tally.addedDerived += 1 }
      } else {
        expectsPresent = true
        let isConcerned = partialCopies.concern(sample)
        let present = trail == nil && !isConcerned ? nil : try self.number(of: sample, type: run.type)
        if let present, isConcerned, try partialCopies.isBetter(sample, in: changes, than: present, db) {
          better.append(index)
        } else if let present {
          meet(present, of: sample, &run.tally)
        } else {
          run.tally.unchanged += 1
        }
      }
    }
    run.waiting.removeAll(keepingCapacity: true)
    (run.hasWaitingDerived, run.hasWaitingOriginal) = (false, false)
    for index in better {
      // Another of them may have taken its place.
      guard let present = try number(of: changes.samples[index], type: run.type) else { continue }
      if try !replace(present, by: index, of: changes, &ids, &run) {
        meet(present, of: changes.samples[index], &run.tally)
      }
    }
  }

  /// Puts a sample in the place of a partial copy of it, under a number of its own: whoever has read that one reads this.
  ///
  /// - Parameter number: of the one that the store has.
  /// - Returns: false where that says no less.
  private mutating func replace(
    _ number: Int64, by index: Int, of changes: CodedChanges, _ ids: inout DictionaryIDs, _ run: inout Run
  ) throws -> Bool {
    let sample = changes.samples[index]
    guard partialCopies.concern(sample), try partialCopies.isBetter(sample, in: changes, than: number, db) else {
      return false
    }
    try insertWaiting(of: changes, &ids, &run)
    let tally = run.tally
    try undo?.keep(sample.uuid, start: sample.start.microseconds, type: run.type, db)
    if let here = try remove(sample.uuid, start: sample.start.microseconds, type: run.type) {
      let gone = CodedTombstone(type: sample.type, start: sample.start, uuid: sample.uuid, deleted: .now)
      try forget(gone, type: run.type, change: here.change, duration: here.duration)
    }
    run.wait(index, isDerived: sample.uuid.isDerived)
    try insertWaiting(of: changes, &ids, &run)
    run.tally = tally
    run.tally.unchanged += 1
    return true
  }

  /// The store has the sample. What an export says twice counts once.
  private mutating func meet(_ number: Int64, of sample: CodedSample, _ tally: inout TypeTally) {
    if sideFiles.concern(sample) {
      paired.insert(number)
      if parts.remove(number) != nil { tally.unchanged += 1 }
    }
    if trail?.meet(number) ?? true { tally.unchanged += 1 }
  }

  /// Whether a sample, which is not deleted here, is here already, with its file or without, or is deleted with it. What says
  /// less than the sample gives way.
  private mutating func isCopy(_ sample: CodedSample, in changes: CodedChanges, _ run: inout Run) throws -> Bool {
    if let number = try number(of: sample, type: run.type) {
      meet(number, of: sample, &run.tally)
      return true
    }
    let start = sample.start.microseconds
    if let other = sideFiles.others[sample.uuid], !other.isBare, run.tally.hasTombstones,
      let deletion = try deletion(of: other.uuid, start: start, type: run.type),
      // Else it is another's.
      trail?.met.contains(deletion) != true
    {
      var whole = sample
      whole.uuid = other.uuid
      try refuse(whole, in: changes, deletion, &run)
      return true
    }
    let copies = try sideFiles.find(sample, in: changes, type: run.type, db)
    guard let copy = copies.first(where: { !isPaired($0) }) else { return false }
    if copy.isBare {
      try bury(
        CodedTombstone(type: sample.type, start: sample.start, uuid: copy.uuid, deleted: .now), type: run.type,
        replacedBy: sample.uuid, &run.tally)
      return false
    }
    // A long route is several samples, and this one is without all of them.
    for part in copies where part.path == copy.path && part.path != nil && part.change != copy.change {
      if trail?.meet(part.change) == true { parts.insert(part.change) }
    }
    _ = trail?.meet(copy.change)
    paired.insert(copy.change)
    run.tally.unchanged += 1
    return true
  }

  /// Whether what is written has named the copy itself, or is one with it.
  private func isPaired(_ copy: SideFileCopies.Copy) -> Bool {
    if copy.change > firstCounter || paired.contains(copy.change) { return true }
    if copy.isExact, parts.contains(copy.change) { return false }
    return trail?.met.contains(copy.change) == true
  }

  /// - Parameter deletion: its number.
  private mutating func refuse(
    _ sample: CodedSample, in changes: CodedChanges, _ deletion: Int64, _ run: inout Run
  ) throws {
    guard trail?.meet(deletion: deletion) ?? true else { return }
    // Only an import says what is here all the same, and a pull may meet very many.
    guard undo != nil else {
      run.tally.refused += 1
      return
    }
    // The export has what was brought back: a later one that lacks it says that it is gone.
    if trail != nil,
      let restored = try deletions.restored(sample.uuid, start: sample.start.microseconds, type: run.type)
    {
      if trail?.meet(restored.change) == true { run.tally.unchanged += 1 }
      return
    }
    let isHere = try deletions.isHere(sample, in: changes, type: run.type, mayHaveOriginal: run.tally.hasOriginal)
    if isHere { run.tally.unchanged += 1 } else { run.tally.refused += 1 }
  }

  private func number(of sample: CodedSample, type: Int64) throws -> Int64? {
    var binding = Binding(search)
    binding.bind(type)
    binding.bind(sample.start.microseconds)
    binding.bind(sample.uuid)
    return try binding.integer(db)
  }

  private mutating func delete(_ tombstone: CodedTombstone, type: Int64, replacedBy replacement: UUID?) throws {
    var tally = try tallies[type] ?? TypeTally(type, db)
    let removed = tally.removed
    try bury(tombstone, type: type, replacedBy: replacement, &tally)
    if tally.removed == removed { tally.unchanged += 1 }
    tallies[type] = tally
  }

  /// Tombstone insertion: inserts the tombstone unless there is one, and removes the sample.
  ///
  /// - Parameter original: the sample that takes its place, or says the same and stays.
  private mutating func bury(
    _ tombstone: CodedTombstone, type: Int64, replacedBy original: UUID?, _ tally: inout TypeTally
  ) throws {
    let start = tombstone.start.microseconds
    try undo?.keep(tombstone.uuid, start: start, type: type, db)
    let here = try remove(tombstone.uuid, start: start, type: type)
    tally.hasTombstones = true
    if let here {
      try forget(tombstone, type: type, change: here.change, duration: here.duration)
      tally.removed += 1
      if tombstone.uuid.isDerived { tally.removedDerived += 1 }
    }

    var burying = Binding(burial)
    burying.bind(counter + 1)
    burying.bind(type)
    burying.bind(start)
    burying.bind(tombstone.uuid)
    burying.bind(tombstone.deleted.microseconds)
    burying.bind(original)
    try burying.run(db)
    guard sqlite3_changes(db.sqliteConnection) == 1 else { return }
    counter += 1
    _ = trail?.meet(deletion: counter)
  }

  private func remove(_ uuid: UUID, start: Int64, type: Int64) throws -> (change: Int64, duration: Int64)? {
    var removing = Binding(removal)
    removing.bind(type)
    removing.bind(start)
    removing.bind(uuid)
    return try removing.integers(db)
  }

  /// Takes a sample that has just been deleted out of the digests that are kept.
  private mutating func forget(_ sample: CodedTombstone, type: Int64, change: Int64, duration: Int64) throws {
    var removals = try digestRemovals ?? DigestRemovals(db)
    try removals.remove(sample, type: type, change: change, duration: duration)
    digestRemovals = removals
  }

  /// Writes the counter, the counts and the digests. Nothing may be written through this writer afterwards.
  mutating func finish() throws {
    let names = TypeNames(db)
    for (type, tally) in tallies {
      try tally.write(type, db)
      summary.add(tally, of: try names.name(type))
    }
    try trail?.write(db)
    try digestRemovals?.write(db)
    // Every addition and every deletion has taken a number, and so has a tombstone of what was not here.
    if counter == firstCounter { return }
    try epochs.cover(firstCounter + 1...counter, db)
    try db.execute(sql: "UPDATE store SET counter = ?", arguments: [counter])
    if let undo { try undo.wrote(from: firstCounter, to: counter, db) } else { try UndoJournal.forget(db) }
  }

  /// The trail that was given, with what was met since.
  consuming func takeTrail() -> ImportTrail? { trail }

  func isDeleted(_ sample: SampleReference) throws -> Bool {
    guard let type = try sample.type.id(in: db) else { return false }
    return try deletion(of: sample.uuid, start: sample.start.microseconds, type: type) != nil
  }

  /// The change number of a sample's tombstone; `nil` without one.
  private func deletion(of uuid: UUID, start: Int64, type: Int64) throws -> Int64? {
    var binding = Binding(lookup)
    binding.bind(type)
    binding.bind(start)
    binding.bind(uuid)
    return try binding.integer(db)
  }
}
