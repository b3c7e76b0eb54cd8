import Foundation
import GRDB
import GRDBSQLite
import HealthModel

/// Writes within one transaction: gives out change numbers, interns dictionary rows, keeps the counts.
///
/// Made and used within a single `write` closure, so that a rollback leaves nothing of it behind.
struct SampleWriter {
  /// Of more samples around those that wait, each is looked up by itself.
  private static let neighbourLimit = 4 * SampleInsertion.rowLimit

  let db: Database
  private let epochs: EpochKeeper
  let insertion: SampleInsertion
  var rows: SampleRows
  let tombstones: TombstoneInsertion
  let firstCounter: Int64
  var counter: Int64
  /// Counts to be written at the end of the transaction, by type id.
  var tallies: [Int64: TypeTally] = [:]
  private var sideFiles = SideFileCopies(kinds: [])
  private var partialCopies = PartialCopies(kinds: [])
  private var copies = CopyMerger(CodedChanges())
  var visibility: Visibility
  var touched = TouchedSeconds()
  /// Change numbers of the stored copies that samples of this transaction were matched with. Each is matched once: the
  /// records of a file that agree in all their identities are made of may be told apart by nothing else than that one
  /// lacks its file.
  private var paired: Set<Int64> = []
  /// Change numbers of stored route parts that were matched only because they name the same file as a part that was.
  private var parts: Set<Int64> = []
  var deletions: DeletedSamples
  private var bareCopies: BareCopies
  /// Whether the last sample was in the store: then the next mostly is, and a lookup costs less than an insert in vain.
  private var expectsPresent = false
  var trail: ImportTrail?
  let undo: UndoJournal?
  var states: KeyStates
  /// The time of this machine's clock.
  let now: Timestamp
  /// When what is written was said, if that is known: the date of the export.
  let said: Timestamp?
  /// Whether the file that is written is whole, as far as that is known.
  var isWhole = true
  /// The numbers of what the one who sends may change; `nil` for any.
  private let ownChanges: SentChanges?
  private(set) var summary = WriteSummary()

  /// - Parameters:
  ///   - now: the time of this machine's clock.
  ///   - trail: of the import that writes, if that is of an export; to be taken back from ``finish()``.
  ///   - undo: of the import that writes.
  ///   - road: of the samples that do not say theirs.
  ///   - said: the date of the export.
  ///   - ownChanges: of the one who sends, where copies of what others brought may say more of it, but nothing else.
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

  /// Inserts the tombstones, whether or not the store has ever had their samples, and removes what they delete; then
  /// inserts the samples, unless the store has them or a tombstone for them.
  ///
  /// - Parameters:
  ///   - others: by the UUIDs of samples, those that they have without or with their files.
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
    // Neighbours mostly have one type, and a tally in a dictionary costs as much as a binding.
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

  /// Nothing, if the store has the sample and no less of it, or has seen it deleted.
  private mutating func add(
    _ sample: CodedSample, _ index: Int, of changes: CodedChanges, _ ids: inout DictionaryIDs, _ run: inout SampleRun
  ) throws {
    if run.waitingOriginals.contains(sample.uuid) { try insertWaiting(of: changes, &ids, &run) }
    if run.tally.hasStatements || sample.statement != nil, sample.uuid.isDerived {
      if try takeIntoKey(index, of: changes, &ids, &run) { return }
    }
    if expectsPresent {
      if trail != nil, sample.uuid.isDerived, run.tally.areDerivedExported, !partialCopies.concern(sample) {
        // What an export says again is not compared, so that its row need not be read.
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
        // What came before in this batch may be one with what came now.
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

  /// The indices of waiting samples with HealthKit's UUIDs that the store has, perhaps with another start. Neighbours mostly
  /// start one after the other, so one look at that time tells of all.
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

  /// The store has a copy of the sample. What is to be kept of both takes its place, under a number of its own: whoever has
  /// read that one reads this.
  mutating func take(
    _ index: Int, over present: SampleRows.Present, of changes: CodedChanges, _ ids: inout DictionaryIDs,
    _ run: inout SampleRun
  ) throws {
    let sample = changes.samples[index]
    // What was said of one of several records is not changed by what says nothing of the others.
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
    // A consumer of the source before may not see it any more.
    if isElsewhere || merged.sample.source.name != merge.present.source.name {
      try UndoneSamples.add(merged.sample.type, start: present.start, merged.sample.uuid, db)
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

  /// False for what need not be compared: exports that say the same sample twice differ in what Apple prints from one to the
  /// next, and the first is kept.
  private func mayDiffer(
    _ index: Int, from present: SampleRows.Present, of changes: CodedChanges, type: Int64, _ ids: inout DictionaryIDs
  ) throws -> Bool {
    let sample = changes.samples[index]
    if trail != nil, present.road == .appleExport {
      return partialCopies.concern(sample) ? try partialCopies.isPartial(present.change, db) : false
    }
    return try !insertion.isStored(index, of: changes, type: type, as: present.change, &ids)
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
  private mutating func isCopy(_ sample: CodedSample, in changes: CodedChanges, _ run: inout SampleRun) throws -> Bool {
    if let present = try find(sample, type: run.type) {
      meet(present.change, of: sample, &run.tally)
      return true
    }
    let start = sample.start.microseconds
    if run.tally.hasTombstones, let other = try otherIdentity(of: sample, in: changes),
      let deletion = try tombstones.find(other.uuid, start: start, type: run.type),
      // Else it is another's.
      trail?.met.contains(deletion.change) != true,
      // What made way for the one with its file was not deleted, and what was brought back is not.
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
    // A long route is several samples, and this one is without all of them.
    for part in copies where part.path == copy.path && part.path != nil && part.change != copy.change {
      if trail?.meet(part.change) == true { parts.insert(part.change) }
    }
    _ = trail?.meet(copy.change)
    paired.insert(copy.change)
    run.tally.unchanged += 1
    return true
  }

  /// What the sample is called without its file, or with it, as the reader of an export knows, or its own identity proves.
  private mutating func otherIdentity(
    of sample: CodedSample, in changes: CodedChanges
  ) throws -> SideFileIdentity? {
    if let known = sideFiles.others[sample.uuid] { return known }
    if trail != nil { return nil }
    return try bareCopies.identity(of: sample, in: changes).map { SideFileIdentity(uuid: $0, isBare: true) }
  }

  /// Whether what is written has named the copy itself, or is one with it.
  private func isPaired(_ copy: SideFileCopies.Copy) -> Bool {
    if copy.change > firstCounter || paired.contains(copy.change) { return true }
    if copy.isExact, parts.contains(copy.change) { return false }
    return trail?.met.contains(copy.change) == true
  }

  /// - Parameter deletion: its number.
  private mutating func refuse(
    _ sample: CodedSample, in changes: CodedChanges, _ deletion: Int64, _ run: inout SampleRun
  ) throws {
    guard trail?.meet(deletion: deletion) ?? true else { return }
    // Only an import says what is here all the same, and a pull may meet very many.
    guard undo != nil else {
      run.tally.refused += 1
      return
    }
    // The export has what was brought back, or took its place: a later one that lacks it says that it is gone.
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
        // As others have it, who do not know of the key.
        try insertTombstone(tombstone, type: type, source: source, removesSample: false, replacedBy: nil, &tally)
      }
      tombstone.uuid = named.content
      statement = try bury(named, start: tombstone.start.microseconds, type: type, &tally)
    }
    // What was alone with its key, or one of several records.
    let key = statement == nil ? try keyOfRecords(tombstone, type: type, tally) : nil
    try insertTombstone(
      tombstone, type: type, source: source, statement: statement, removesSample: key == nil, replacedBy: nil, &tally)
    if let key { try keepRecords(of: key, beside: tombstone, type: type, &tally) }
    // One that is here without its file, beside one with it, is another's.
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

  /// Tombstone insertion: inserts the tombstone unless there is one, and removes the sample.
  ///
  /// - Parameters:
  ///   - source: the row id of the source that the tombstone names.
  ///   - removesSample: false where another sample may have its identity by now.
  ///   - replacement: the sample that takes its place, or says the same and stays.
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
    // Not within an import, whose numbers go when it is undone.
    let isNewer = stored.stamp.map { stamp in statement.map { stamp < $0.stamp } ?? false } ?? false
    var known = stored.details
    // Both from one start.
    if isFiner { known?.duration &+= stored.start &- start } else { details?.duration &+= start &- stored.start }
    let isBetter = details.map { details in known.map(details.precedes) ?? true } ?? false
    guard undo == nil, isFiner || isBetter || tombstone.deleted < stored.deleted || isNewer else { return }
    counter += 1
    try tombstones.complete(
      stored, start: isFiner ? start : stored.start, deleted: tombstone.deleted, number: counter, source: source,
      isBetter ? details : nil, isNewer ? statement : nil)
    touched.touch(Timestamp(microseconds: stored.start), type)
  }

  /// - Parameter told: the start that the tombstone will have. Consumers may know the sample by another.
  /// - Returns: the row id of the sample's source; `nil` if there was no sample.
  private mutating func removeSample(
    of tombstone: CodedTombstone, type: Int64, told: Int64, _ tally: inout TypeTally
  ) throws -> Int64? {
    var source: Int64?
    // A store that did not look around took two starts for two samples.
    while let start = try rows.find(tombstone.uuid, start: tombstone.start.microseconds, type: type)?.start {
      source = try rows.remove(tombstone.uuid, start: start, type: type)
      states.forgetUnstated()
      tally.removed += 1
      if tombstone.uuid.isDerived { tally.removedDerived += 1 }
      if tally.isMixed { touched.touch(Timestamp(microseconds: start), type) }
      if start != told { try UndoneSamples.add(try TypeNames(db).name(type), start: start, tombstone.uuid, db) }
    }
    return source
  }

  /// Writes the counter, the counts and the digests. Nothing may be written through this writer afterwards.
  mutating func finish() throws {
    let names = TypeNames(db)
    for (type, tally) in tallies {
      try tally.write(type, db)
      summary.add(tally, of: try names.name(type))
    }
    try trail?.write(db)
    try rows.finish()
    // Every addition and every deletion has taken a number, and so has a tombstone of what was not here.
    if counter == firstCounter { return }
    try epochs.cover(firstCounter + 1...counter, db)
    try db.execute(sql: "UPDATE store SET counter = ?", arguments: [counter])
    if let said { try StatedRanges.add(firstCounter + 1...counter, said: said, db) }
    if let undo { try undo.wrote(from: firstCounter, to: counter, db) } else { try UndoJournal.forget(db) }
  }

  /// The trail that was given, with what was met since.
  consuming func takeTrail() -> ImportTrail? { trail }

  func isDeleted(_ sample: SampleReference) throws -> Bool {
    guard let type = try sample.type.id(in: db) else { return false }
    return try tombstones.find(sample.uuid, start: sample.start.microseconds, type: type) != nil
  }
}

extension CodedChanges {
  /// Of workouts there may be copies from Health Auto Export, whose UUIDs do not tell.
  fileprivate func isWorkout(_ index: Int) -> Bool {
    types[Int(samples[index].type)] == .workout
  }
}

extension CodedChanges {
  /// Without statements that no export can have said.
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
