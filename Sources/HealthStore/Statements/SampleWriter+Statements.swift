import Foundation
import GRDB
import HealthModel

/// Keys with several records: of each, what was said last is held, whole, less what was deleted (``KeyStatement``).
extension SampleWriter {
  /// How far ahead of this machine's clock a statement may be: more, and it would keep out all that comes until then.
  private static let maximumLead: Int64 = 86_400_000_000

  // MARK: What an export says

  /// Takes what an export says of a key: all of its records, from the lowest rank to the highest, with the identities of their
  /// ranks. A key that has one record now, and never had several, is written as any other.
  mutating func say(_ group: TwinGroup) throws {
    let samples = group.byRank()
    var coder = ChangeCoder()
    for sample in samples { try coder.add(sample) }
    let changes = coder.changes
    guard let first = samples.first else { return }
    var ids = DictionaryIDs(changes)
    let type = try ids.type(changes.samples[0].type, db)
    let state = try states[first.uuid, type: type, start: first.start.microseconds]
    if samples.count == 1, state.isEmpty { return try write(changes) }
    var tally = try tallies[type] ?? TypeTally(type, db)
    try say(samples, of: first.uuid, rest: { group.key.uuid(ordinal: $0) }, type: type, &tally)
    tallies[type] = tally
    try touched.update(&visibility, after: firstCounter, counter: &counter)
  }

  /// - Parameter rest: the identities of the other ranks, where they are known.
  private mutating func say(
    _ samples: [Sample], of key: UUID, rest: ((Int) -> UUID)? = nil, type: Int64, _ tally: inout TypeTally
  ) throws {
    guard let start = samples.first?.start.microseconds else { return }
    let state = try states[key, type: type, start: start]
    let unstated = try unstated(key, state, rest: rest, type: type, start: start)
    let known = try known(state) ?? unstated.first?.stamp
    let statements = KeyStatement.all(of: samples, key: key, said: time(after: known))
    guard let stamp = statements.first?.stamp else { return }
    let standing = Standing(stamp, top: state.top, known: known)
    let before = Set(state.records.keys).union(unstated.map(\.content))
    switch standing {
    case .same: try note(stamp, state, known)
    case .newer: _ = try clear(key, state, unstated, type: type, start: start, &tally)
    case .older: break
    }
    var kept = 0
    for (sample, statement) in zip(samples, statements) {
      let state = try states[key, type: type, start: start]
      if let record = state.records[statement.content] {
        if trail?.meet(record.change) ?? true { tally.unchanged += 1 }
      } else if standing == .older {
        tally.unchanged += 1
      } else if try isBuried(statement, sample, state, type: type) {
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

  /// When a statement was said, as it counts here.
  private func time(after known: KeyStatement.Stamp?) -> Timestamp {
    let now = Timestamp.now
    func isAhead(_ time: Timestamp) -> Bool { time.microseconds > now.microseconds + Self.maximumLead }
    let times = [said, known?.said].compactMap(\.self)
    if let said, !times.contains(where: isAhead) { return said }
    return max(now, known.map { Timestamp(microseconds: max($0.said.microseconds, $0.said.microseconds &+ 1)) } ?? now)
  }

  // MARK: What another machine has

  /// Takes one of several records of a key, or one that is alone with its key elsewhere and not here.
  ///
  /// - Returns: false for a sample that is none of these.
  mutating func takeIntoKey(
    _ index: Int, of changes: CodedChanges, _ ids: inout DictionaryIDs, _ run: inout SampleRun
  ) throws -> Bool {
    let coded = changes.samples[index]
    let (start, type) = (coded.start.microseconds, run.type)
    guard let statement = coded.statement.map({ changes.statements[Int($0)] }) else {
      guard try states.mayHold(type: type, start: start) else { return false }
      let state = try states[coded.uuid, type: type, start: start]
      if state.isEmpty { return false }
      try insertWaiting(of: changes, &ids, &run)
      if trail == nil {
        // A machine that does not know of the others has heard less.
        run.tally.unchanged += 1
      } else {
        try say([try changes.sample(coded)], of: coded.uuid, type: type, &run.tally)
      }
      return true
    }
    try insertWaiting(of: changes, &ids, &run)
    let key = statement.key
    let state = try states[key, type: type, start: start]
    let unstated = try unstated(key, state, type: type, start: start)
    let known = try known(state) ?? unstated.first?.stamp
    var wasImported = false
    switch Standing(statement.stamp, top: state.top, known: known) {
    case .same:
      try note(statement.stamp, state, known)
      if let record = state.records[statement.content] {
        if record.uuid == coded.uuid, let present = try find(coded, type: type) {
          try take(index, over: present, of: changes, &ids, &run)
          states.forget()
        } else {
          run.tally.unchanged += 1
        }
        return true
      }
      for record in state.records.values where try ImportTrail.contains(record.change, db) { wasImported = true }
    case .newer: wasImported = try clear(key, state, unstated, type: type, start: start, &run.tally)
    case .older:
      try contest(key, state, unstated, known, type: type, start: start, &run.tally)
      run.tally.unchanged += 1
      return true
    }
    let sample = try changes.sample(coded)
    let now = try states[key, type: type, start: start]
    if try isBuried(statement, sample, now, type: type) {
      run.tally.refused += 1
      return true
    }
    let number = try insert(
      sample, road: insertion.roadOf(coded), statement, now.top.map { max($0, statement.stamp) } ?? statement.stamp,
      type: type, &run.tally)
    if wasImported { try ImportTrail.write(number...number, db) }
    return true
  }

  // MARK: Deletions

  /// Removes the record that a tombstone names by what it says, before the tombstone is inserted.
  mutating func bury(_ statement: KeyStatement, start: Int64, type: Int64, _ tally: inout TypeTally) throws {
    let key = statement.key
    let state = try states[key, type: type, start: start]
    let unstated = try unstated(key, state, type: type, start: start)
    let known = try known(state) ?? unstated.first?.stamp
    switch Standing(statement.stamp, top: state.top, known: known) {
    case .same: try note(statement.stamp, state, known)
    case .newer: _ = try clear(key, state, unstated, type: type, start: start, &tally)
    case .older: try contest(key, state, unstated, known, type: type, start: start, &tally)
    }
    var now = try states[key, type: type, start: start]
    if let record = now.records.removeValue(forKey: statement.content) {
      try remove(record.uuid, start: start, type: type, &tally)
    }
    now.deletions[statement.content] = now.deletions[statement.content] ?? statement.stamp
    states.set(now, of: key)
    tally.hasTombstones = true
    tally.hasStatements = true
  }

  /// What was said of the record that a tombstone without a statement names, where it is not the first of its key, so that no other
  /// can be meant.
  mutating func statedRecord(_ tombstone: CodedTombstone, type: Int64, _ tally: TypeTally) throws -> KeyStatement? {
    guard tally.hasStatements, tombstone.uuid.isDerived,
      try states.mayHold(type: type, start: tombstone.start.microseconds),
      let statement = try statement(of: tombstone, type: type), statement.key != tombstone.uuid
    else { return nil }
    return statement
  }

  private func statement(of tombstone: CodedTombstone, type: Int64) throws -> KeyStatement? {
    var query = try Binding(
      db, "SELECT statement FROM sample WHERE type = ? AND start = ? AND uuid = ? AND statement IS NOT NULL")
    query.bind(type)
    query.bind(tombstone.start.microseconds)
    query.bind(tombstone.uuid)
    var statement: KeyStatement?
    try query.rows(db) { row in
      statement = try row.statement(0)
      return false
    }
    return statement
  }

  /// The key whose records a tombstone without a statement must not remove by their identity: what it deleted was alone with its
  /// key, and one of several records may have the identity by now.
  mutating func keyOfRecords(_ tombstone: CodedTombstone, type: Int64, _ tally: TypeTally) throws -> UUID? {
    guard tally.hasStatements, tombstone.uuid.isDerived,
      try states.mayHold(type: type, start: tombstone.start.microseconds)
    else { return nil }
    if let statement = try statement(of: tombstone, type: type) { return statement.key }
    return try states[tombstone.uuid, type: type, start: tombstone.start.microseconds].isEmpty ? nil : tombstone.uuid
  }

  /// After a tombstone without a statement: what says what it deleted goes. What has its identity and does not, goes on under a
  /// number after that of the tombstone, for those who take it for deleted.
  mutating func keepRecords(
    of key: UUID, beside tombstone: CodedTombstone, type: Int64, _ tally: inout TypeTally
  ) throws {
    let start = tombstone.start.microseconds
    var state = try states[key, type: type, start: start]
    for (content, record) in state.records.sorted(by: { $0.value.change < $1.value.change }) {
      guard let stored = try stored(record.change) else { continue }
      let statement = KeyStatement(key: key, stamp: record.stamp, content: content)
      if try isBuried(statement, stored.sample, state, type: type) {
        try remove(record.uuid, start: start, type: type, &tally)
        state.records[content] = nil
        states.set(state, of: key)
      } else if record.uuid == tombstone.uuid {
        try restate([(record, content, stored)], of: key, record.stamp, type: type, start: start, &tally)
        state = try states[key, type: type, start: start]
      }
    }
  }

  // MARK: What is known

  /// How a statement stands to the newest that is known.
  private enum Standing {
    case same, newer, older

    init(_ stamp: KeyStatement.Stamp, top: KeyStatement.Stamp?, known: KeyStatement.Stamp?) {
      self = stamp.values == top?.values ? .same : known.map { $0 < stamp } ?? true ? .newer : .older
    }
  }

  /// The newest statement of a key, with the time when it was said last.
  private func known(_ state: KeyState) throws -> KeyStatement.Stamp? {
    guard var top = state.top else { return nil }
    for record in state.records.values where record.stamp.values == top.values {
      if let again = try Repetition.last(of: record.change, db) { top.said = max(top.said, again) }
    }
    return top
  }

  private func note(_ stamp: KeyStatement.Stamp, _ state: KeyState, _ known: KeyStatement.Stamp?) throws {
    guard let known, known.said < stamp.said, let record = state.records.values.min(by: { $0.change < $1.change })
    else { return }
    try Repetition.note(stamp.said, of: record.change, db)
  }

  /// Whether what a record says was deleted.
  private func isBuried(
    _ statement: KeyStatement, _ sample: Sample, _ state: KeyState, type: Int64
  ) throws -> Bool {
    if state.deletions[statement.content] != nil { return true }
    // One that was alone with its key when it was deleted. Of what it said is known what its tombstone tells.
    guard case .quantity(let quantity) = sample.payload,
      statement.content == KeyStatement.content(sample.canonicalValue, rank: 0, of: statement.key)
    else { return false }
    var query = try Binding(
      db, "SELECT hint FROM tombstone WHERE type = ? AND start = ? AND uuid = ? AND statement IS NULL")
    query.bind(type)
    query.bind(sample.start.microseconds)
    query.bind(statement.key)
    var hint: UInt8?
    try query.rows(db) { row in
      hint = row.optionalInteger(0).flatMap(UInt8.init(exactly:))
      return false
    }
    return hint.map { ValueHint.all(of: quantity, sample.type)?.contains($0) ?? false } ?? false
  }

  /// A record without a statement: it was alone with its key when it came, or came from a file that has none.
  private struct Unstated {
    var copy: SampleCopy
    var change: Int64
    var content: UUID
    var stamp: KeyStatement.Stamp
  }

  /// The records of a key that have no statement: that with its own identity, and those of other ranks as far as they are known.
  ///
  /// - Parameter rest: the identities of the other ranks.
  private func unstated(
    _ key: UUID, _ state: KeyState, rest: ((Int) -> UUID)? = nil, type: Int64, start: Int64
  ) throws -> [Unstated] {
    let stated = Set(state.records.values.map(\.uuid))
    var found: [(copy: SampleCopy, change: Int64)] = []
    var rank = 0
    while true {
      let uuid = rank == 0 ? key : rest?(rank)
      guard let uuid, let present = try rows.find(uuid, start: start, type: type) else { break }
      if !stated.contains(uuid), let copy = try stored(present.change) { found.append((copy, present.change)) }
      rank += 1
    }
    found.sort { $0.copy.sample.canonicalValue < $1.copy.sample.canonicalValue }
    let said = try found.compactMap { try StatedRanges.said($0.change, db) }.max() ?? Timestamp(microseconds: .min)
    let statements = KeyStatement.all(of: found.map(\.copy.sample), key: key, said: said)
    return zip(found, statements).map {
      Unstated(copy: $0.copy, change: $0.change, content: $1.content, stamp: $1.stamp)
    }
  }

  private func stored(_ change: Int64) throws -> SampleCopy? {
    let stored = try StoredSamples.read(db, where: "change = ?") { $0.bind(change) }
    return try stored.samples.first.map { row in
      SampleCopy(try stored.expanded { _, expander in try expander.sample(row) }, road: row.road)
    }
  }

  // MARK: Writing

  /// Removes all records of a key: what is said of it now takes their place, and they leave nothing behind.
  ///
  /// - Returns: whether an export held any of them.
  private mutating func clear(
    _ key: UUID, _ state: KeyState, _ unstated: [Unstated], type: Int64, start: Int64, _ tally: inout TypeTally
  ) throws -> Bool {
    let going = state.records.values.map { ($0.uuid, $0.change) } + unstated.map { ($0.copy.sample.uuid, $0.change) }
    var wasImported = false
    for (uuid, change) in going {
      if try ImportTrail.contains(change, db) { wasImported = true }
      try remove(uuid, start: start, type: type, &tally)
    }
    states.set(KeyState(deletions: state.deletions), of: key)
    return wasImported
  }

  private mutating func remove(_ uuid: UUID, start: Int64, type: Int64, _ tally: inout TypeTally) throws {
    guard try rows.remove(uuid, start: start, type: type) != nil else { return }
    tally.removed += 1
    tally.removedDerived += 1
    touched.touch(Timestamp(microseconds: start), type)
    // No tombstone has its identity.
    try UndoneSamples.add(try TypeNames(db).name(type), start: start, uuid, db)
  }

  /// - Returns: its change number.
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
    // From a file, which says nothing of the others.
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
    var state = try states[statement.key, type: type, start: start]
    state.records[statement.content] = KeyState.Record(change: number, uuid: sample.uuid, stamp: stamp)
    states.set(state, of: statement.key)
    return number
  }

  /// An older statement was met, of which others may not know that it is older: what was only remembered is said.
  private mutating func contest(
    _ key: UUID, _ state: KeyState, _ unstated: [Unstated], _ known: KeyStatement.Stamp?, type: Int64, start: Int64,
    _ tally: inout TypeTally
  ) throws {
    guard let known else { return }
    if state.isEmpty {
      let records = unstated.map {
        (KeyState.Record(change: $0.change, uuid: $0.copy.sample.uuid, stamp: $0.stamp), $0.content, $0.copy)
      }
      return try restate(records, of: key, known, type: type, start: start, &tally)
    }
    guard let top = state.top, known > top else { return }
    let records = try state.records.compactMap { content, record in
      try stored(record.change).map { (record, content, $0) }
    }
    try restate(records, of: key, known, type: type, start: start, &tally)
  }

  /// Writes records that are here under numbers of their own.
  private mutating func restate(
    _ records: [(record: KeyState.Record, content: UUID, copy: SampleCopy)], of key: UUID, _ stamp: KeyStatement.Stamp,
    type: Int64, start: Int64, _ tally: inout TypeTally
  ) throws {
    for (record, content, copy) in records.sorted(by: { $0.record.change < $1.record.change }) {
      let wasImported = try ImportTrail.contains(record.change, db)
      try remove(record.uuid, start: start, type: type, &tally)
      let number = try insert(
        copy.sample, road: copy.road, KeyStatement(key: key, stamp: stamp, content: content), stamp, type: type, &tally)
      if wasImported { try ImportTrail.write(number...number, db) }
      _ = trail?.meet(number)
      tally.keep(1)
      tally.unchanged -= 1
    }
  }
}
