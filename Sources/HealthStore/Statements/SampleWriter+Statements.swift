import Foundation
import GRDB
import HealthModel

/// The writing of keys with several records: the store holds the complete newest statement of each key, without
/// deleted records (``KeyStatement``).
extension SampleWriter {
  /// The maximum time that a statement may be ahead of this machine's clock, in microseconds. A statement further
  /// ahead would block all newer ones until then.
  private static let maximumLead: Int64 = 86_400_000_000

  // MARK: What an export says

  /// Writes an export's statement of a key: all of its records in order of rank, with the identities of their ranks.
  /// A key that has one record now, and never had several, is written like any other sample.
  mutating func say(_ group: TwinGroup) throws {
    let samples = group.byRank()
    var coder = ChangeCoder()
    for sample in samples { try coder.add(sample) }
    let changes = coder.changes
    guard let first = samples.first else { return }
    var ids = DictionaryIDs(changes)
    let type = try ids.type(changes.samples[0].type, db)
    let state = try states.state(first.uuid, type: type, start: first.start.microseconds)
    let others = try states.unstated(first.uuid, type: type, start: first.start.microseconds)
    if samples.count == 1, state.isEmpty, !others.contains(where: { $0.copy.sample.uuid != first.uuid }) {
      return try write(changes)
    }
    var tally = try tallies[type] ?? TypeTally(type, db)
    try say(samples, of: first.uuid, rest: { group.key.uuid(ordinal: $0) }, type: type, &tally)
    tallies[type] = tally
    try touched.update(&visibility, after: firstCounter, counter: &counter)
  }

  /// Writes a statement of a key.
  ///
  /// - Parameter rest: returns the identities of the other ranks, if they are known.
  private mutating func say(
    _ samples: [Sample], of key: UUID, rest: ((Int) -> UUID)? = nil, type: Int64, _ tally: inout TypeTally
  ) throws {
    guard let start = samples.first?.start.microseconds else { return }
    let state = try states.state(key, type: type, start: start)
    let unstated = try unstated(key, state, type: type, start: start)
    let known = state.known ?? unstated.stamp
    let statements = KeyStatement.all(of: samples, key: key, said: time(after: known))
    guard let stamp = statements.first?.stamp else { return }
    var standing = Standing(stamp, top: state.top, known: known)
    // A file that ends early may have only some of the records.
    if standing == .newer, !isWhole, let known, known.count > stamp.count { standing = .older }
    let before = Set(state.records.keys).union(unstated.records.map(\.content))
    switch standing {
    case .same: try note(stamp, key, type: type, start: start)
    case .newer:
      _ = try clear(key, state, unstated, type: type, start: start, &tally)
      if state.isEmpty {
        try buryAgain(
          statements.map(\.content).filter { !before.contains($0) }, stamp, of: key, rest, type, start, &tally)
      }
    case .older: break
    }
    var kept = 0
    for (sample, statement) in zip(samples, statements) {
      let state = try states.state(key, type: type, start: start)
      if let record = state.records[statement.content] {
        if trail?.meet(record.change) ?? true { tally.unchanged += 1 }
      } else if standing == .older {
        tally.unchanged += 1
      } else if try isBuried(statement, sample, state, type: type, &tally) {
        if let restored = try deletions.restored(statement.content, start: start, type: type) {
          _ = trail?.meet(restored.change)
          tally.unchanged += 1
        } else {
          tally.refused += 1
        }
      } else {
        let said = standing == .same ? state.top ?? stamp : stamp
        let number = try insert(sample, road: .unknown, statement, said, type: type, &tally)
        _ = trail?.meet(number)
        if standing == .newer, before.contains(statement.content) { kept += 1 }
      }
    }
    tally.keep(kept)
  }

  /// Returns the time at which a statement counts as made.
  private func time(after known: KeyStatement.Stamp?) -> Timestamp {
    func isAhead(_ time: Timestamp) -> Bool { time.microseconds > now.microseconds + Self.maximumLead }
    let times = [said, known?.said].compactMap(\.self)
    if let said, !times.contains(where: isAhead) { return said }
    return max(now, known.map { Timestamp(microseconds: max($0.said.microseconds, $0.said.microseconds &+ 1)) } ?? now)
  }

  /// Adds tombstones that name the content of a key's records, for tombstones from before the key was known to have
  /// several. A tombstone without details stands for any one of the records that were not stored, and this chooses
  /// which.
  private mutating func buryAgain(
    _ contents: [UUID], _ stamp: KeyStatement.Stamp, of key: UUID, _ rest: ((Int) -> UUID)?, _ type: Int64,
    _ start: Int64, _ tally: inout TypeTally
  ) throws {
    guard tally.hasTombstones, let rest else { return }
    var left = contents[...]
    var rank = 0
    while let content = left.first {
      guard let grave = try grave(rank == 0 ? key : rest(rank), type: type, start: start) else {
        if rank >= contents.count { return }
        rank += 1
        continue
      }
      rank += 1
      if grave.hint != nil { continue }
      left = left.dropFirst()
      try bury(KeyStatement(key: key, stamp: stamp, content: content), as: grave, type: type, start: start, &tally)
    }
  }

  /// Adds a tombstone that names the content of a record, in addition to a tombstone without a statement.
  private mutating func bury(
    _ statement: KeyStatement, as grave: Grave, type: Int64, start: Int64, _ tally: inout TypeTally
  ) throws {
    counter += 1
    try tombstones.insert(
      CodedTombstone(type: 0, start: Timestamp(microseconds: start), uuid: statement.content, deleted: grave.deleted),
      start: start, type: type, number: counter, source: grave.source, grave.details, statement: statement,
      replacedBy: nil)
    _ = try states.state(statement.key, type: type, start: start)
    states.change(statement.key) { $0.delete(content: statement.content, statement.stamp) }
    tally.hasStatements = true
  }

  // MARK: What another machine has

  /// Writes a sample that is one of several records of a key, or the only one elsewhere but not here.
  ///
  /// - Returns: false for any other sample.
  mutating func takeIntoKey(
    _ index: Int, of changes: CodedChanges, _ ids: inout DictionaryIDs, _ run: inout SampleRun
  ) throws -> Bool {
    let coded = changes.samples[index]
    let (start, type) = (coded.start.microseconds, run.type)
    guard let statement = coded.statement.map({ changes.statements[Int($0)] }) else {
      guard try states.mayHold(type: type, start: start) else { return false }
      let isFirst = try states.has([coded.uuid], type: type, start: start)
      let others = try isFirst ? [] : keys(ofOther: coded, in: changes)
      let isOther = try states.has(others, type: type, start: start)
      guard isFirst || isOther else { return false }
      try insertWaiting(of: changes, &ids, &run)
      if isFirst, trail != nil {
        try say([try changes.sample(coded)], of: coded.uuid, type: type, &run.tally)
      } else {
        // A sender that does not know the other records has older information.
        run.tally.unchanged += 1
      }
      return true
    }
    try insertWaiting(of: changes, &ids, &run)
    let key = statement.key
    let state = try states.state(key, type: type, start: start)
    let unstated = try unstated(key, state, type: type, start: start)
    let known = state.known ?? unstated.stamp
    var wasImported = state.wasImported ?? false
    switch Standing(statement.stamp, top: state.top, known: known) {
    case .same:
      try note(statement.stamp, key, type: type, start: start)
      if let record = state.records[statement.content] {
        if record.uuid == coded.uuid, let present = try find(coded, type: type) {
          let first = counter
          try take(index, over: present, of: changes, &ids, &run)
          if counter > first { states.forget() }
        } else {
          run.tally.unchanged += 1
        }
        return true
      }
      if state.wasImported == nil {
        wasImported = try state.records.values.contains { try ImportTrail.contains($0.change, db) }
        states.change(key) { $0.wasImported = wasImported }
      }
    case .newer: wasImported = try clear(key, state, unstated, type: type, start: start, &run.tally)
    case .older:
      try contest(key, state, unstated, known, type: type, start: start, &run.tally)
      run.tally.unchanged += 1
      return true
    }
    let sample = try changes.sample(coded)
    let now = try states.state(key, type: type, start: start)
    if try isBuried(statement, sample, now, type: type, &run.tally) {
      // One tombstone of the key is enough.
      if now.top.map({ $0 < statement.stamp }) ?? true { try raise(statement, start: start, type: type) }
      run.tally.refused += 1
      return true
    }
    let number = try insert(
      sample, road: insertion.roadOf(coded), statement, now.top.map { max($0, statement.stamp) } ?? statement.stamp,
      type: type, &run.tally)
    if wasImported { try ImportTrail.write(number...number, db) }
    return true
  }

  /// Returns whether a statement names records with derived identities, as those of exports are. Other statements are
  /// invalid.
  static func isFit(_ statement: KeyStatement, of uuid: UUID) -> Bool {
    [uuid, statement.key, statement.content].allSatisfy { $0.isDerived && !$0.isOfReading }
  }

  /// Returns the keys of which a sample may be a later record, if it comes from a file that does not say so.
  private mutating func keys(ofOther sample: CodedSample, in changes: CodedChanges) throws -> [UUID] {
    try states.keys(of: Self.key(of: sample, in: changes)).filter { $0.ordinal(of: sample.uuid) != nil }
      .map { $0.uuid(ordinal: 0) }
  }

  /// Returns the keys of which a file contains records other than the first.
  mutating func keysWithSeveral(in changes: CodedChanges) throws -> Set<SampleKey> {
    var found: Set<SampleKey> = []
    // A sample that is no record of its key costs a hash for each rank.
    var misses = 20_000
    for sample in changes.samples where sample.statement == nil && sample.uuid.isDerived && !sample.uuid.isOfReading {
      let keys = try states.keys(of: Self.key(of: sample, in: changes))
      if misses == 0 || keys.contains(where: { $0.uuid(ordinal: 0) == sample.uuid }) { continue }
      if let key = keys.first(where: { $0.ordinal(of: sample.uuid) != nil }) {
        found.insert(key)
      } else {
        misses -= 1
      }
    }
    return found
  }

  /// Returns the key of a sample with the current name of its source.
  static func key(of sample: CodedSample, in changes: CodedChanges) -> SampleKey {
    let kind =
      switch changes.kinds[Int(sample.kind)] {
      case Quantity.kind, CategoryValue.kind: "record"
      case let kind: kind
      }
    return SampleKey(
      kind: kind, type: changes.types[Int(sample.type)], source: changes.sources[Int(sample.source)].name,
      start: sample.start.seconds, end: sample.end.seconds, created: sample.created?.seconds)
  }

  // MARK: Deletions

  /// Removes the record that a tombstone names by its content, before the tombstone is inserted.
  ///
  /// - Returns: the statement for the tombstone. If the removed record has a newer stamp, the tombstone gets it.
  ///   Otherwise an older statement would return if the record was the last of its key.
  mutating func bury(
    _ statement: KeyStatement, start: Int64, type: Int64, _ tally: inout TypeTally
  ) throws -> KeyStatement {
    let key = statement.key
    let state = try states.state(key, type: type, start: start)
    let unstated = try unstated(key, state, type: type, start: start)
    let known = state.known ?? unstated.stamp
    switch Standing(statement.stamp, top: state.top, known: known) {
    case .same:
      try note(statement.stamp, key, type: type, start: start)
      // The record with the later time may be the one that is deleted.
      try contest(key, state, unstated, state.known, type: type, start: start, &tally)
    case .newer: _ = try clear(key, state, unstated, type: type, start: start, &tally)
    case .older: try contest(key, state, unstated, known, type: type, start: start, &tally)
    }
    var buried = statement
    if let record = try states.state(key, type: type, start: start).records[statement.content] {
      try remove(record.uuid, start: start, type: type, &tally)
      buried.stamp = max(buried.stamp, record.stamp)
    }
    states.change(key) { state in
      _ = state.remove(content: statement.content)
      state.delete(content: statement.content, buried.stamp)
    }
    tally.hasTombstones = true
    tally.hasStatements = true
    return buried
  }

  /// Gives the tombstone of a record the stamp of a newer statement that contains the record again. The tombstone may
  /// be all that the store has of that statement.
  private mutating func raise(_ statement: KeyStatement, start: Int64, type: Int64) throws {
    // Not within an import, because undoing it removes its numbers.
    guard undo == nil, let stored = try tombstones.find(statement.content, start: start, type: type),
      let stamp = stored.stamp, stamp < statement.stamp
    else { return }
    counter += 1
    try tombstones.complete(
      stored, start: stored.start, deleted: stored.deleted, number: counter, source: nil, nil, statement)
    touched.touch(Timestamp(microseconds: stored.start), type)
    _ = try states.state(statement.key, type: type, start: start)
    states.change(statement.key) { $0.delete(content: statement.content, statement.stamp) }
  }

  /// Returns the statement of the record that a tombstone without a statement deletes, if it is not the first record
  /// of its key and the tombstone's hint matches.
  mutating func statedRecord(_ tombstone: CodedTombstone, type: Int64, _ tally: TypeTally) throws -> KeyStatement? {
    guard tally.hasStatements, tombstone.uuid.isDerived,
      try states.mayHold(type: type, start: tombstone.start.microseconds), let hint = tombstone.hint,
      let record = try stated(tombstone, type: type), record.statement.key != tombstone.uuid,
      let copy = try stored(record.change), Self.accepts(copy.sample, hint)
    else { return nil }
    return record.statement
  }

  private func stated(
    _ tombstone: CodedTombstone, type: Int64
  ) throws -> (statement: KeyStatement, change: Int64)? {
    var query = try Binding(
      db, "SELECT statement, change FROM sample WHERE type = ? AND start = ? AND uuid = ? AND statement IS NOT NULL")
    query.bind(type)
    query.bind(tombstone.start.microseconds)
    query.bind(tombstone.uuid)
    var record: (statement: KeyStatement, change: Int64)?
    try query.rows(db) { row in
      record = try row.statement(0).map { ($0, row.integer(1)) }
      return false
    }
    return record
  }

  /// Returns the key whose records a tombstone without a statement must not remove by their identity. The tombstone
  /// deleted the only record of its key, and one of several records may have that identity now.
  mutating func keyOfRecords(_ tombstone: CodedTombstone, type: Int64, _ tally: TypeTally) throws -> UUID? {
    let start = tombstone.start.microseconds
    guard tally.hasStatements, tombstone.uuid.isDerived, try states.mayHold(type: type, start: start) else {
      return nil
    }
    if let record = try stated(tombstone, type: type) { return record.statement.key }
    return try states.has([tombstone.uuid], type: type, start: start) ? tombstone.uuid : nil
  }

  /// Handles the records of a key after a tombstone without a statement. A record with the deleted content is
  /// removed. Another record with the tombstone's identity gets a number after the tombstone's, for readers that
  /// would otherwise consider it deleted.
  mutating func keepRecords(
    of key: UUID, beside tombstone: CodedTombstone, type: Int64, _ tally: inout TypeTally
  ) throws {
    let start = tombstone.start.microseconds
    let state = try states.state(key, type: type, start: start)
    for (content, record) in state.records.sorted(by: { $0.value.change < $1.value.change }) {
      guard let copy = try stored(record.change) else { continue }
      let statement = KeyStatement(key: key, stamp: record.stamp, content: content)
      if try isBuried(statement, copy.sample, state, type: type, &tally) {
        try remove(record.uuid, start: start, type: type, &tally)
        states.change(key) { _ = $0.remove(content: content) }
      } else if record.uuid == tombstone.uuid {
        try restate([(record, content, copy)], of: key, state.known ?? record.stamp, type: type, start: start, &tally)
      }
    }
  }

  // MARK: What is known

  /// The order of a statement relative to the newest known one.
  private enum Standing {
    case same, newer, older

    init(_ stamp: KeyStatement.Stamp, top: KeyStatement.Stamp?, known: KeyStatement.Stamp?) {
      self = stamp.values == top?.values ? .same : known.map { $0 < stamp } ?? true ? .newer : .older
    }
  }

  /// Records that the stored statement was repeated, perhaps at a later time.
  private mutating func note(_ stamp: KeyStatement.Stamp, _ key: UUID, type: Int64, start: Int64) throws {
    let state = try states.state(key, type: type, start: start)
    guard let known = state.known, known.said < stamp.said,
      let record = state.records.values.min(by: { $0.change < $1.change })
    else { return }
    try Repetition.note(stamp.said, of: record.change, db)
    states.change(key) { $0.said(again: stamp.said) }
  }

  /// Returns whether the content of a record was deleted.
  private mutating func isBuried(
    _ statement: KeyStatement, _ sample: Sample, _ state: KeyState, type: Int64, _ tally: inout TypeTally
  ) throws -> Bool {
    if state.deletions[statement.content] != nil { return true }
    let start = sample.start.microseconds
    // The record may have been deleted before its key was known to have several. Only the tombstone's hint describes
    // its content. The first record of a key may have been its only one, and may be another one now.
    var identities: [UUID] = []
    if statement.content == KeyStatement.content(sample.canonicalValue, rank: 0, of: statement.key) {
      identities.append(statement.key)
    }
    if sample.uuid != statement.key { identities.append(sample.uuid) }
    guard
      let grave = try hintedGrave(identities, of: sample, type: type, start: start)
        ?? graveOfAll(statement, sample, type: type, start: start)
    else { return false }
    try bury(statement, as: grave, type: type, start: start, &tally)
    return true
  }

  /// The most records of a key whose tombstones are counted.
  private static let mostCounted = 64

  /// Returns the tombstone of a record if there are tombstones without statements and hints for as many records of its
  /// key as its statement has: then no record of the statement is left, whichever tombstone is of which.
  ///
  /// A file without statements may have brought the records, before a person deleted them.
  private func graveOfAll(
    _ statement: KeyStatement, _ sample: Sample, type: Int64, start: Int64
  ) throws -> Grave? {
    let count = statement.stamp.count
    guard (2...Self.mostCounted).contains(count), let own = try grave(sample.uuid, type: type, start: start),
      own.hint == nil
    else { return nil }
    let kind =
      switch sample.payload.kind {
      case Quantity.kind, CategoryValue.kind: "record"
      case let kind: kind
      }
    let key = SampleKey(kind: kind, sample: sample)
    guard key.uuid(ordinal: 0) == statement.key else { return nil }
    for ordinal in 0..<count where key.uuid(ordinal: ordinal) != sample.uuid {
      guard let other = try grave(key.uuid(ordinal: ordinal), type: type, start: start), other.hint == nil else {
        return nil
      }
    }
    return own
  }

  /// Returns a tombstone without a statement for one of some identities, if its hint matches a sample.
  private func hintedGrave(_ identities: [UUID], of sample: Sample, type: Int64, start: Int64) throws -> Grave? {
    for uuid in identities {
      if let grave = try grave(uuid, type: type, start: start), let hint = grave.hint, Self.accepts(sample, hint) {
        return grave
      }
    }
    return nil
  }

  /// Returns whether a deletion with this hint may belong to a sample.
  private static func accepts(_ sample: Sample, _ hint: UInt8) -> Bool {
    guard case .quantity(let quantity) = sample.payload else { return false }
    return ValueHint.all(of: quantity, sample.type)?.contains(hint) ?? false
  }

  /// A tombstone without a statement.
  private struct Grave {
    var deleted: Timestamp
    var source: Int64?
    var details: TombstoneInsertion.Details?
    var hint: UInt8?
  }

  private func grave(_ uuid: UUID, type: Int64, start: Int64) throws -> Grave? {
    var query = try Binding(
      db,
      """
      SELECT deleted, source, duration, road, hint FROM tombstone
      WHERE type = ? AND start = ? AND uuid = ? AND statement IS NULL
      """)
    query.bind(type)
    query.bind(start)
    query.bind(uuid)
    var grave: Grave?
    try query.rows(db) { row in
      let hint = row.optionalInteger(4).flatMap(UInt8.init(exactly:))
      grave = Grave(
        deleted: Timestamp(microseconds: row.integer(0)), source: row.optionalInteger(1),
        details: row.optionalInteger(2).map {
          TombstoneInsertion.Details(duration: $0, road: SampleRoad(stored: row.integer(3)), hint: hint)
        }, hint: hint)
      return false
    }
    return grave
  }

  /// The records of a key that have no statement.
  private struct Unstated {
    /// The records that count as the statement: those of exports, if there are any; otherwise all.
    var records: [(sample: UnstatedSample, content: UUID)] = []
    /// The records from files, if there are records of exports.
    var leftovers: [UnstatedSample] = []
    /// The stamp of ``records``; `nil` if there are none.
    var stamp: KeyStatement.Stamp?
  }

  private mutating func unstated(_ key: UUID, _ state: KeyState, type: Int64, start: Int64) throws -> Unstated {
    var found = try states.unstated(key, type: type, start: start)
    // The key may contain an earlier name of its source.
    if !state.identities.contains(key), !found.contains(where: { $0.copy.sample.uuid == key }),
      let present = try rows.find(key, start: start, type: type), let copy = try stored(present.change)
    {
      found.append(UnstatedSample(change: present.change, copy: copy))
    }
    if found.isEmpty { return Unstated() }
    let times = try found.map { try StatedRanges.said($0.change, db) }
    let isExported = times.contains { $0 != nil }
    var unstated = Unstated()
    var counted: [UnstatedSample] = []
    for (sample, time) in zip(found, times) {
      if isExported, time == nil { unstated.leftovers.append(sample) } else { counted.append(sample) }
    }
    counted.sort { $0.copy.sample.canonicalValue < $1.copy.sample.canonicalValue }
    let said = times.compactMap(\.self).max() ?? Timestamp(microseconds: .min)
    let statements = KeyStatement.all(of: counted.map(\.copy.sample), key: key, said: said)
    unstated.records = zip(counted, statements).map { ($0, $1.content) }
    unstated.stamp = statements.first?.stamp
    return unstated
  }

  private func stored(_ change: Int64) throws -> SampleCopy? {
    let stored = try StoredSamples.read(db, where: "change = ?") { $0.bind(change) }
    return try stored.samples.first.map { row in
      SampleCopy(try stored.expanded { _, expander in try expander.sample(row) }, road: row.road)
    }
  }

  // MARK: Writing

  /// Removes all records of a key without tombstones, because a new statement replaces them.
  ///
  /// - Returns: whether an export contained any of them.
  private mutating func clear(
    _ key: UUID, _ state: KeyState, _ unstated: Unstated, type: Int64, start: Int64, _ tally: inout TypeTally
  ) throws -> Bool {
    let loose = unstated.records.map(\.sample) + unstated.leftovers
    let going = state.records.values.map { ($0.uuid, $0.change) } + loose.map { ($0.copy.sample.uuid, $0.change) }
    var wasImported = false
    for (uuid, change) in going {
      if try ImportTrail.contains(change, db) { wasImported = true }
      try remove(uuid, start: start, type: type, &tally)
    }
    states.change(key) { state in
      state.clear()
      state.wasImported = wasImported
    }
    return wasImported
  }

  private mutating func remove(_ uuid: UUID, start: Int64, type: Int64, _ tally: inout TypeTally) throws {
    guard try rows.remove(uuid, start: start, type: type) != nil else { return }
    tally.removed += 1
    tally.removedDerived += 1
    touched.touch(Timestamp(microseconds: start), type)
    // No tombstone has this identity.
    try WithdrawnSamples.add(try TypeNames(db).name(type), start: start, uuid, db)
  }

  /// Inserts a record.
  ///
  /// - Returns: the change number of the record.
  private mutating func insert(
    _ sample: Sample, road: SampleRoad, _ statement: KeyStatement, _ stamp: KeyStatement.Stamp, type: Int64,
    _ tally: inout TypeTally
  ) throws -> Int64 {
    var coder = ChangeCoder()
    try coder.add(
      sample, road: road, statement: KeyStatement(key: statement.key, stamp: stamp, content: statement.content))
    let changes = coder.changes
    var ids = DictionaryIDs(changes)
    let start = sample.start.microseconds
    // The existing sample came from a file, which does not mention the other records.
    if try rows.find(sample.uuid, start: start, type: type) != nil {
      try remove(sample.uuid, start: start, type: type, &tally)
      states.forget()
    }
    guard let number = try insertion.insert([0], of: changes, type: type, first: counter + 1, &ids)[0] else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "two records of a key have one identity")
    }
    counter = number
    rows.inserted(sample.uuid, start: start, change: number, type: type)
    tally.add(sample.uuid, by: insertion.roadOf(changes.samples[0]))
    tally.hasStatements = true
    touched.touch(sample.start, type)
    _ = try states.state(statement.key, type: type, start: start)
    states.change(statement.key) {
      $0.add(KeyState.Record(change: number, uuid: sample.uuid, stamp: stamp), content: statement.content)
    }
    return number
  }

  /// Writes the stored records again after an older statement arrived, because other machines may not know that it is
  /// older. They then receive the time of the last repetition.
  private mutating func contest(
    _ key: UUID, _ state: KeyState, _ unstated: Unstated, _ known: KeyStatement.Stamp?, type: Int64, start: Int64,
    _ tally: inout TypeTally
  ) throws {
    guard let known else { return }
    if state.isEmpty {
      for leftover in unstated.leftovers {
        try remove(leftover.copy.sample.uuid, start: start, type: type, &tally)
      }
      let records = unstated.records.map { sample, content in
        (KeyState.Record(change: sample.change, uuid: sample.copy.sample.uuid, stamp: known), content, sample.copy)
      }
      return try restate(records, of: key, known, type: type, start: start, &tally)
    }
    guard let top = state.top, known > top else { return }
    let records = try state.records.compactMap { content, record in
      try stored(record.change).map { (record, content, $0) }
    }
    try restate(records, of: key, known, type: type, start: start, &tally)
  }

  /// Writes stored records again under new change numbers.
  private mutating func restate(
    _ records: [(record: KeyState.Record, content: UUID, copy: SampleCopy)], of key: UUID, _ stamp: KeyStatement.Stamp,
    type: Int64, start: Int64, _ tally: inout TypeTally
  ) throws {
    for (record, content, copy) in records.sorted(by: { $0.record.change < $1.record.change }) {
      let wasImported = try ImportTrail.contains(record.change, db)
      try remove(record.uuid, start: start, type: type, &tally)
      states.change(key) { _ = $0.remove(content: content) }
      let number = try insert(
        copy.sample, road: copy.road, KeyStatement(key: key, stamp: stamp, content: content), stamp, type: type, &tally)
      if wasImported { try ImportTrail.write(number...number, db) }
      _ = trail?.meet(number)
      tally.keep(1)
      tally.unchanged -= 1
    }
  }
}
