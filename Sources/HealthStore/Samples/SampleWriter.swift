import Foundation
import GRDB
import GRDBSQLite
import HealthModel

/// A writer of changes within one transaction, which assigns change numbers, interns dictionary rows and maintains
/// the counts.
///
/// Create and use it within a single `write` closure, so that a rollback leaves nothing of it behind.
struct SampleWriter {
  /// The number of stored samples around the waiting ones from which each waiting sample is looked up on its own.
  private static let neighbourLimit = 4 * SampleInsertion.rowLimit

  let db: Database
  private let epochs: EpochKeeper
  let insertion: SampleInsertion
  var rows: SampleRows
  let tombstones: TombstoneInsertion
  let firstCounter: Int64
  var counter: Int64
  /// The counts to write at the end of the transaction, by type id.
  var tallies: [Int64: TypeTally] = [:]
  private var sideFiles = SideFileCopies(kinds: [])
  private var partialCopies = PartialCopies(kinds: [])
  private var copies = CopyMerger(CodedChanges())
  var visibility: Visibility
  var touched = TouchedSeconds()
  /// The change numbers of the stored copies that samples of this transaction were matched with. Each copy is matched
  /// once: records of a file that agree in everything that identities are derived from may differ only in that one
  /// lacks its side file.
  private var paired: Set<Int64> = []
  /// The change numbers of stored route parts that were matched only because they name the same file as a matched
  /// part.
  private var parts: Set<Int64> = []
  var deletions: DeletedSamples
  private var bareCopies: BareCopies
  /// Whether the last sample was stored already. Then the next usually is too, and a lookup costs less than a failed
  /// insert.
  private var expectsPresent = false
  var trail: ImportTrail?
  let undo: UndoJournal?
  var states: KeyStates
  /// The time of this machine's clock.
  let now: Timestamp
  /// The date of the export, if that is known.
  let said: Timestamp?
  /// Whether the file that is written is complete, as far as that is known.
  var isWhole = true
  /// The change numbers that the sender may change, or `nil` for all.
  private let ownChanges: SentChanges?
  private(set) var summary = WriteSummary()

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - now: the time of this machine's clock.
  ///   - trail: the trail of the import, if it imports an export. Take it back after ``finish()``.
  ///   - undo: the journal of the import.
  ///   - road: the road of samples that have none of their own.
  ///   - said: the date of the export.
  ///   - ownChanges: the changes of the sender. The sender's copies of other samples may add details, but change
  ///     nothing else.
  init(
    _ db: Database, epochs: EpochKeeper, now: Timestamp, trail: ImportTrail? = nil, undo: UndoJournal? = nil,
    road: SampleRoad = .unknown, said: Timestamp? = nil, ownChanges: SentChanges? = nil
  ) throws {
    self.db = db
    self.now = now
    self.said = said
    self.ownChanges = ownChanges
    self.epochs = epochs
    self.trail = trail
    self.undo = undo
    deletions = DeletedSamples(db)
    states = KeyStates(db)
    bareCopies = BareCopies(db)
    visibility = Visibility(db)
    tombstones = try TombstoneInsertion(db)
    firstCounter = try Schema.counter(db)
    counter = firstCounter
    insertion = try SampleInsertion(db, road: road)
    rows = try SampleRows(db, undo: undo)
  }

  /// Inserts the tombstones, whether or not the store has ever had their samples, and removes the samples that they
  /// delete. Then inserts the samples that the store has neither stored nor deleted.
  ///
  /// - Parameters:
  ///   - others: the identities that samples have without or with their side files, by UUID.
  mutating func write(
    _ changes: CodedChanges, sideFiles others: [UUID: SideFileIdentity] = [:]
  ) throws {
    let changes = changes.statements.isEmpty ? changes : changes.withFitStatements()
    var ids = DictionaryIDs(changes)
    sideFiles = SideFileCopies(kinds: changes.kinds, others: others)
    partialCopies = PartialCopies(kinds: changes.kinds)
    copies = CopyMerger(changes)
    for tombstone in changes.tombstones {
      try delete(
        tombstone, of: changes, type: try ids.type(tombstone.type, db),
        source: try tombstone.source.map { try ids.source($0, db) })
    }
    // Consecutive samples usually have one type, and a tally in a dictionary costs as much as a binding.
    var run = try SampleRun(type: 0, tally: TypeTally(0, db))
    for (index, sample) in changes.samples.enumerated() {
      let type = try ids.type(sample.type, db)
      if type != run.type {
        try insertWaiting(of: changes, &ids, &run)
        tallies[run.type] = run.tally
        run = try SampleRun(type: type, tally: tallies[type] ?? TypeTally(type, db))
      }
      try add(sample, index, of: changes, &ids, &run)
    }
    try insertWaiting(of: changes, &ids, &run)
    tallies[run.type] = run.tally
    tallies[0] = nil
    try touched.update(&visibility, after: firstCounter, counter: &counter)
  }

  /// Adds a sample, unless the store has one that is at least as complete, or has it deleted.
  private mutating func add(
    _ sample: CodedSample, _ index: Int, of changes: CodedChanges, _ ids: inout DictionaryIDs, _ run: inout SampleRun
  ) throws {
    if run.waitingOriginals.contains(sample.uuid) { try insertWaiting(of: changes, &ids, &run) }
    if run.tally.hasStatements || sample.statement != nil, sample.uuid.isDerived {
      if try takeIntoKey(index, of: changes, &ids, &run) { return }
    }
    if expectsPresent {
      if trail != nil, sample.uuid.isDerived, run.tally.areDerivedExported, !partialCopies.concern(sample) {
        // A sample that an export repeats is not compared, so its row need not be read.
        if let change = try rows.changeNumber(of: sample.uuid, start: sample.start.microseconds, type: run.type) {
          return meet(change, of: sample, &run.tally)
        }
        expectsPresent = false
      } else if let present = try find(sample, type: run.type) {
        return try take(index, over: present, of: changes, &ids, &run)
      }
      expectsPresent = false
    }
    if run.tally.hasTombstones,
      let deletion = try tombstones.find(sample.uuid, start: sample.start.microseconds, type: run.type)
    {
      return try refuse(sample, in: changes, deletion.change, &run)
    }
    if sideFiles.concern(sample) {
      try insertWaiting(of: changes, &ids, &run)
      if try isCopy(sample, in: changes, &run) { return }
    }
    run.wait(index, sample.uuid)
    if run.waiting.count == SampleInsertion.rowLimit { try insertWaiting(of: changes, &ids, &run) }
  }

  mutating func insertWaiting(
    of changes: CodedChanges, _ ids: inout DictionaryIDs, _ run: inout SampleRun
  ) throws {
    if run.waiting.isEmpty { return }
    states.forgetUnstated()
    var present = try presentAround(of: changes, run)
    let waiting = present.isEmpty ? run.waiting : run.waiting.filter { !present.contains($0) }
    let numbers = try insertion.insert(waiting, of: changes, type: run.type, first: counter + 1, &ids)
    run.removeWaiting()
    for (index, number) in zip(waiting, numbers) {
      guard let number else {
        expectsPresent = true
        present.append(index)
        continue
      }
      counter = number
      rows.inserted(
        changes.samples[index].uuid, start: changes.samples[index].start.microseconds, change: number, type: run.type)
      _ = trail?.meet(number)
      run.tally.add(changes.samples[index].uuid, by: insertion.roadOf(changes.samples[index]))
    }
    if let first = waiting.first,
      run.tally.isMixed || changes.isWorkout(first) || waiting.contains(where: { changes.samples[$0].uuid.isOfReading })
    {
      if run.isPlain {
        // A sample that came earlier in this batch may equal a sample that came now.
        for sample in changes.samples where sample.type == changes.samples[first].type {
          touched.touch(sample.start, run.type)
        }
        run.isPlain = false
      } else {
        for (index, number) in zip(waiting, numbers) where number != nil {
          touched.touch(changes.samples[index].start, run.type)
        }
      }
    }
    for index in present {
      guard let found = try find(changes.samples[index], type: run.type) else { continue }
      try take(index, over: found, of: changes, &ids, &run)
    }
  }

  /// Returns the indices of waiting samples with HealthKit's UUIDs that the store has, perhaps with another start.
  /// Consecutive samples usually start close together, so one search covers all of them.
  private func presentAround(of changes: CodedChanges, _ run: SampleRun) throws -> [Int] {
    guard run.tally.hasOriginal, !run.waitingOriginals.isEmpty else { return [] }
    let originals = run.waiting.filter { !changes.samples[$0].uuid.isDerived }
    let times = originals.map { changes.samples[$0].start.microseconds }
    guard let first = times.min(), let last = times.max() else { return [] }
    let uuid = changes.samples[originals[0]].uuid
    let starts = uuid.range(ofStart: first).lowerBound...uuid.range(ofStart: last).upperBound
    guard try rows.mayHold(run.waitingOriginals, in: starts, type: run.type, limit: Self.neighbourLimit) else {
      return []
    }
    return try originals.filter { try find(changes.samples[$0], type: run.type) != nil }
  }

  func find(_ sample: CodedSample, type: Int64) throws -> SampleRows.Present? {
    try rows.find(sample.uuid, start: sample.start.microseconds, type: type)
  }

  /// Merges a sample with its stored copy. The result replaces the copy under a new change number, so that readers of
  /// the copy receive the result.
  mutating func take(
    _ index: Int, over present: SampleRows.Present, of changes: CodedChanges, _ ids: inout DictionaryIDs,
    _ run: inout SampleRun
  ) throws {
    let sample = changes.samples[index]
    // A sample that does not mention the other records of its key does not change a record that was stated among
    // them.
    if sample.statement == nil, run.tally.hasStatements, try KeyStates.holds(present.change, db) {
      return meet(present.change, of: sample, &run.tally)
    }
    guard try mayDiffer(index, from: present, of: changes, type: run.type, &ids),
      let merge = try copies.merge(sample, road: insertion.roadOf(sample), with: present.change, db),
      mayChange(present.change) || merge.copy.sample.agrees(with: merge.present)
    else { return meet(present.change, of: sample, &run.tally) }
    let merged = merge.copy
    let wasImported = try ImportTrail.contains(present.change, db)
    let isRegister = merged.sample.uuid.isOfReading || merge.statement != nil
    let said = isRegister ? try Repetition.last(of: present.change, db) : nil
    let seen = try visibility.seen(present.change, type: run.type)
    try rows.remove(sample.uuid, start: present.start, type: run.type)
    let isElsewhere = merged.sample.start.microseconds != present.start
    // A consumer that filters by the previous source may not see the new sample.
    if isElsewhere || merged.sample.source.name != merge.present.source.name {
      try WithdrawnSamples.add(merged.sample.type, start: present.start, merged.sample.uuid, db)
    }
    if isElsewhere { touched.touch(Timestamp(microseconds: present.start), run.type) }
    var coder = ChangeCoder()
    try coder.add(merged.sample, road: merged.road, statement: merge.statement)
    let merging = coder.changes
    var mergedIDs = DictionaryIDs(merging)
    let numbers = try insertion.insert([0], of: merging, type: run.type, first: counter + 1, &mergedIDs)
    states.forgetUnstated()
    if merged.sample.uuid.isDerived { run.tally.meet(insertion.roadOf(merging.samples[0])) }
    if merge.isReplacement { run.tally.replace(merged.sample.uuid) }
    if let number = numbers[0] {
      if let said, !merge.isReplacement { try Repetition.note(said, of: number, db) }
      counter = number
      rows.inserted(merged.sample.uuid, start: merged.sample.start.microseconds, change: number, type: run.type)
      if trail != nil {
        meet(number, of: sample, &run.tally)
      } else if !merge.isReplacement {
        run.tally.unchanged += 1
      }
      if trail == nil, wasImported { try ImportTrail.write(number...number, db) }
      try visibility.renew(number, as: merge.saysTheSame ? seen : nil)
    }
    touched.touch(merged.sample.start, run.type)
  }

  private func mayChange(_ number: Int64) -> Bool {
    guard let ownChanges else { return true }
    return number > firstCounter || ownChanges.contains(number)
  }

  /// Returns whether a sample has to be compared with its stored copy. Two exports differ in how Apple prints the
  /// same sample, and the first is kept.
  private func mayDiffer(
    _ index: Int, from present: SampleRows.Present, of changes: CodedChanges, type: Int64, _ ids: inout DictionaryIDs
  ) throws -> Bool {
    let sample = changes.samples[index]
    if trail != nil, present.road == .appleExport {
      return partialCopies.concern(sample) ? try partialCopies.isPartial(present.change, db) : false
    }
    return try !insertion.isStored(index, of: changes, type: type, as: present.change, &ids)
  }

  /// Records that the store has the sample. A sample that an export repeats counts once.
  private mutating func meet(_ number: Int64, of sample: CodedSample, _ tally: inout TypeTally) {
    if sideFiles.concern(sample) {
      paired.insert(number)
      if parts.remove(number) != nil { tally.unchanged += 1 }
    }
    if trail?.meet(number) ?? true { tally.unchanged += 1 }
  }

  /// Returns whether a sample, which is not deleted under its own identity, is stored or deleted under the identity
  /// with or without its side file. A stored copy with less content is replaced.
  private mutating func isCopy(_ sample: CodedSample, in changes: CodedChanges, _ run: inout SampleRun) throws -> Bool {
    if let present = try find(sample, type: run.type) {
      meet(present.change, of: sample, &run.tally)
      return true
    }
    let start = sample.start.microseconds
    if run.tally.hasTombstones, let other = try otherIdentity(of: sample, in: changes),
      let deletion = try tombstones.find(other.uuid, start: start, type: run.type),
      // Otherwise the deletion belongs to another sample.
      trail?.met.contains(deletion.change) != true,
      // A sample that was replaced by the one with its file was not deleted by the user, and a restored sample is not
      // deleted.
      try !other.isBare
        || deletion.details != nil && deletions.restored(other.uuid, start: start, type: run.type) == nil
    {
      var deleted = sample
      deleted.uuid = other.uuid
      try refuse(deleted, in: changes, deletion.change, &run)
      return true
    }
    let copies = try sideFiles.find(sample, in: changes, type: run.type, db)
    guard let copy = copies.first(where: { !isPaired($0) }) else { return false }
    if copy.isBare {
      try insertTombstone(
        CodedTombstone(type: sample.type, start: sample.start, uuid: copy.uuid, deleted: .now), type: run.type,
        replacedBy: sample.uuid, &run.tally)
      return false
    }
    // A long route is several samples, and this sample stands for all of them.
    for part in copies where part.path == copy.path && part.path != nil && part.change != copy.change {
      if trail?.meet(part.change) == true { parts.insert(part.change) }
    }
    _ = trail?.meet(copy.change)
    paired.insert(copy.change)
    run.tally.unchanged += 1
    return true
  }

  /// Returns the identity of the sample without or with its side file, from the reader of an export or derived from
  /// its own identity.
  private mutating func otherIdentity(
    of sample: CodedSample, in changes: CodedChanges
  ) throws -> SideFileIdentity? {
    if let known = sideFiles.others[sample.uuid] { return known }
    if trail != nil { return nil }
    return try bareCopies.identity(of: sample, in: changes).map { SideFileIdentity(uuid: $0, isBare: true) }
  }

  /// Returns whether a sample of this transaction is the copy itself or was matched with it.
  private func isPaired(_ copy: SideFileCopies.Copy) -> Bool {
    if copy.change > firstCounter || paired.contains(copy.change) { return true }
    if copy.isExact, parts.contains(copy.change) { return false }
    return trail?.met.contains(copy.change) == true
  }

  /// Counts a sample that is deleted.
  ///
  /// - Parameter deletion: the change number of the tombstone.
  private mutating func refuse(
    _ sample: CodedSample, in changes: CodedChanges, _ deletion: Int64, _ run: inout SampleRun
  ) throws {
    guard trail?.meet(deletion: deletion) ?? true else { return }
    // Only an import distinguishes samples that exist under another identity. A pull may meet too many deleted
    // samples.
    guard undo != nil else {
      run.tally.refused += 1
      return
    }
    // The export contains the restored sample or the replacement. A later export that lacks it then removes it.
    if trail != nil,
      let standIn = try deletions.standIn(for: sample.uuid, start: sample.start.microseconds, type: run.type)
    {
      _ = trail?.meet(standIn.change)
      run.tally.unchanged += 1
      return
    }
    let isHere = try deletions.isHere(sample, in: changes, type: run.type, mayHaveOriginal: run.tally.hasOriginal)
    if isHere { run.tally.unchanged += 1 } else { run.tally.refused += 1 }
  }

  private mutating func delete(
    _ tombstone: CodedTombstone, of changes: CodedChanges, type: Int64, source: Int64?
  ) throws {
    var tally = try tallies[type] ?? TypeTally(type, db)
    let removed = tally.removed
    var tombstone = tombstone
    var statement =
      try tombstone.statement.map { changes.statements[Int($0)] } ?? statedRecord(tombstone, type: type, tally)
    if let named = statement {
      if tombstone.statement == nil {
        // The tombstone as other stores have it, which do not know of the key.
        try insertTombstone(tombstone, type: type, source: source, removesSample: false, replacedBy: nil, &tally)
      }
      tombstone.uuid = named.content
      statement = try bury(named, start: tombstone.start.microseconds, type: type, &tally)
    }
    // The sample may be the only record of its key, or one of several.
    let key = statement == nil ? try keyOfRecords(tombstone, type: type, tally) : nil
    try insertTombstone(
      tombstone, type: type, source: source, statement: statement, removesSample: key == nil, replacedBy: nil, &tally)
    if let key { try keepRecords(of: key, beside: tombstone, type: type, &tally) }
    // A sample that is stored without its file, beside one with it, is a different sample.
    if tally.removed == removed, source != nil, tombstone.end != nil, tombstone.uuid.isDerived {
      for whole in try bareCopies.wholes(of: tombstone.uuid, start: tombstone.start.microseconds, type: type) {
        var same = tombstone
        same.uuid = whole
        try insertTombstone(same, type: type, source: source, replacedBy: nil, &tally)
      }
    }
    if tally.removed == removed { tally.unchanged += 1 }
    tallies[type] = tally
  }

  /// Inserts the tombstone if there is none, and removes the sample.
  ///
  /// - Parameters:
  ///   - source: the row id of the source that the tombstone names.
  ///   - removesSample: whether to remove the sample. False if another sample may have its identity by now.
  ///   - replacement: the sample that replaces the deleted one, or has the same content and stays.
  private mutating func insertTombstone(
    _ tombstone: CodedTombstone, type: Int64, source: Int64? = nil, statement: KeyStatement? = nil,
    removesSample: Bool = true, replacedBy replacement: UUID?, _ tally: inout TypeTally
  ) throws {
    var start = tombstone.start.microseconds
    if !tombstone.uuid.isDerived, let present = try rows.find(tombstone.uuid, start: start, type: type),
      Timestamp(microseconds: present.start).isFiner(than: tombstone.start)
    {
      start = present.start
    }
    let removed = removesSample ? try removeSample(of: tombstone, type: type, told: start, &tally) : nil
    tally.hasTombstones = true
    var details = (source == nil ? nil : tombstone.end).map {
      TombstoneInsertion.Details(duration: $0.microseconds &- start, road: tombstone.road, hint: tombstone.hint)
    }
    let source = source ?? removed
    if details != nil { touched.touch(Timestamp(microseconds: start), type) }
    guard let stored = try tombstones.find(tombstone.uuid, start: start, type: type) else {
      counter += 1
      try tombstones.insert(
        tombstone, start: start, type: type, number: counter, source: source, details, statement: statement,
        replacedBy: replacement)
      _ = trail?.meet(deletion: counter)
      return
    }
    let isFiner = Timestamp(microseconds: start).isFiner(than: Timestamp(microseconds: stored.start))
    // Not within an import, because undoing it removes its numbers.
    let isNewer = stored.stamp.map { stamp in statement.map { stamp < $0.stamp } ?? false } ?? false
    var known = stored.details
    // Durations of one start can be compared.
    if isFiner { known?.duration &+= stored.start &- start } else { details?.duration &+= start &- stored.start }
    let isBetter = details.map { details in known.map(details.precedes) ?? true } ?? false
    guard undo == nil, isFiner || isBetter || tombstone.deleted < stored.deleted || isNewer else { return }
    counter += 1
    try tombstones.complete(
      stored, start: isFiner ? start : stored.start, deleted: tombstone.deleted, number: counter, source: source,
      isBetter ? details : nil, isNewer ? statement : nil)
    touched.touch(Timestamp(microseconds: stored.start), type)
  }

  /// Removes the sample of a tombstone.
  ///
  /// - Parameter told: the start that the tombstone will have. Consumers may know the sample with another start.
  /// - Returns: the row id of the sample's source, or `nil` if there was no sample.
  private mutating func removeSample(
    of tombstone: CodedTombstone, type: Int64, told: Int64, _ tally: inout TypeTally
  ) throws -> Int64? {
    var source: Int64?
    // Earlier versions did not search around the start, and stored two starts as two samples.
    while let start = try rows.find(tombstone.uuid, start: tombstone.start.microseconds, type: type)?.start {
      source = try rows.remove(tombstone.uuid, start: start, type: type)
      states.forgetUnstated()
      tally.removed += 1
      if tombstone.uuid.isDerived { tally.removedDerived += 1 }
      if tally.isMixed { touched.touch(Timestamp(microseconds: start), type) }
      if start != told { try WithdrawnSamples.add(try TypeNames(db).name(type), start: start, tombstone.uuid, db) }
    }
    return source
  }

  /// Writes the counter, the counts and the digests. Write nothing through this writer afterwards.
  mutating func finish() throws {
    let names = TypeNames(db)
    for (type, tally) in tallies {
      try tally.write(type, db)
      summary.add(tally, of: try names.name(type))
    }
    try trail?.write(db)
    try rows.finish()
    // Every addition and every deletion has taken a number, including tombstones of samples that were not stored.
    if counter == firstCounter { return }
    try epochs.cover(firstCounter + 1...counter, db)
    try db.execute(sql: "UPDATE store SET counter = ?", arguments: [counter])
    if let said { try StatedRanges.add(firstCounter + 1...counter, said: said, db) }
    if let undo { try undo.wrote(from: firstCounter, to: counter, db) } else { try UndoJournal.forget(db) }
  }

  /// Returns the import's trail, updated with the samples of this write.
  consuming func takeTrail() -> ImportTrail? { trail }

  func isDeleted(_ sample: SampleReference) throws -> Bool {
    guard let type = try sample.type.id(in: db) else { return false }
    return try tombstones.find(sample.uuid, start: sample.start.microseconds, type: type) != nil
  }
}

extension CodedChanges {
  /// Returns whether a sample is a workout. Health Auto Export has copies of workouts that their UUIDs do not reveal.
  fileprivate func isWorkout(_ index: Int) -> Bool {
    types[Int(samples[index].type)] == .workout
  }
}

extension CodedChanges {
  /// Returns the changes without statements that no export can have made.
  fileprivate func withFitStatements() -> CodedChanges {
    var changes = self
    for index in samples.indices {
      guard let statement = samples[index].statement else { continue }
      if !SampleWriter.isFit(statements[Int(statement)], of: samples[index].uuid) {
        changes.samples[index].statement = nil
      }
    }
    for index in tombstones.indices {
      guard let statement = tombstones[index].statement.map({ statements[Int($0)] }) else { continue }
      if !SampleWriter.isFit(statement, of: statement.content) || statement.content != tombstones[index].uuid {
        changes.tombstones[index].statement = nil
      }
    }
    return changes
  }
}
