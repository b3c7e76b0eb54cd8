import Foundation
import GRDB
import HealthModel

/// Keeps the table `visibility`: which samples are hidden, because one that came by another road is shown in their place
/// (``CountingRule``).
///
/// All samples are stored and travel; what people and consumers on this machine see are those that are not hidden. The
/// table follows from `sample` and `tombstone`, and has rows only for samples that are hidden or once were.
struct Visibility {
  /// Of one type in one second, from whatever source. Where there are more, which only a hostile machine sends, all are shown.
  static let maximumSamples = 256

  /// The number of shown samples of a row of `type`, in SQL.
  static let shownSamples =
    "samples - (SELECT COUNT(*) FROM visibility WHERE visibility.type = type.id AND isHidden)"

  /// The instant at which the second of an instant begins, in SQL.
  static func second(of column: String) -> String { "(\(column) - (\(column) % 1000000 + 1000000) % 1000000)" }

  /// A condition for rows of `sample` that are shown, to follow another; empty where all are.
  static func condition(_ db: Database) throws -> String {
    try isUsed(db) ? " AND NOT EXISTS(SELECT 1 FROM visibility WHERE sample = sample.change AND isHidden)" : ""
  }

  /// Whether any sample is hidden, or ever was.
  static func isUsed(_ db: Database) throws -> Bool {
    try Binding(db, "SELECT 1 FROM visibility LIMIT 1").integer(db) != nil
  }

  private let db: Database
  private let names: TypeNames
  private var units = StoredDictionary("SELECT name FROM unit WHERE id = ?")
  private var kinds = StoredDictionary("SELECT name FROM kind WHERE id = ?")
  private var sources = StoredDictionary("SELECT json FROM source WHERE id = ?") {
    try StoreJSON.decode(Source.self, $0).name
  }

  /// Change numbers of this transaction that stand for samples which consumers may know.
  private var renewed: Set<Int64> = []

  init(_ db: Database) {
    self.db = db
    names = TypeNames(db)
  }

  // MARK: Keeping it

  /// Where consumers have met a sample, or its hiding.
  struct Seen {
    fileprivate var type: Int64
    fileprivate var isHidden: Bool
    fileprivate var number: Int64?
  }

  /// - Parameters:
  ///   - change: the number of the sample.
  ///   - type: its row id.
  func seen(_ change: Int64, type: Int64) throws -> Seen {
    var query = try Binding(db, "SELECT isHidden, number FROM visibility WHERE sample = ?")
    query.bind(change)
    var seen = Seen(type: type, isHidden: false, number: change)
    try query.rows(db) { row in
      (seen.isHidden, seen.number) = (row.integer(0) != 0, row.optionalInteger(1))
      return false
    }
    return seen
  }

  /// A sample has got another number.
  ///
  /// - Parameter seen: where consumers have met it, if it says the same: it does not come again.
  mutating func renew(_ change: Int64, as seen: Seen?) throws {
    renewed.insert(change)
    guard let seen, try Binding(db, "SELECT 1 FROM consumer LIMIT 1").integer(db) != nil else { return }
    try write(change, seen)
  }

  private func write(_ change: Int64, _ seen: Seen) throws {
    var statement = try Binding(
      db,
      """
      INSERT INTO visibility(sample, type, isHidden, number, time) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT(sample) DO UPDATE SET isHidden = excluded.isHidden, number = excluded.number, time = excluded.time
      """)
    statement.bind(change)
    statement.bind(seen.type)
    statement.bind(Int64(seen.isHidden ? 1 : 0))
    statement.bind(seen.number)
    statement.bind(Timestamp.now.microseconds)
    try statement.run(db)
  }

  /// Decides anew which samples of a type that start in one second are hidden.
  ///
  /// - Parameters:
  ///   - type: its row id.
  ///   - second: since 1970.
  ///   - touched: how many samples were added or removed there since it was last decided; `nil` if that is not known.
  ///   - first: the counter before the transaction: of what came later nobody knows yet.
  ///   - counter: moves on for each sample that was seen and is hidden, or that was hidden and is shown.
  mutating func update(
    type: Int64, second: Int64, touched: Int? = nil, after first: Int64, counter: inout Int64
  ) throws {
    // One more than there can be if so few were there before that some may be hidden.
    let limit = touched.map { Self.maximumSamples + $0 + 1 } ?? .max
    let rows = try decided(type, Timestamp(seconds: second), limit: limit).rows
    if rows.count == limit { return }
    for row in rows where row.isHidden != row.shouldHide {
      let isNew = row.change > first && !renewed.contains(row.change)
      if !row.shouldHide, isNew {
        try db.execute(sql: "DELETE FROM visibility WHERE sample = ?", arguments: [row.change])
        continue
      }
      if !isNew { counter += 1 }
      try write(row.change, Seen(type: type, isHidden: row.shouldHide, number: isNew ? nil : counter))
    }
  }

  /// The same for all samples of the store; costs a walk along those types that may have any hidden.
  mutating func updateAll(after first: Int64, counter: inout Int64) throws {
    for (type, second) in try decidable() {
      try update(type: type, second: second, after: first, counter: &counter)
    }
  }

  /// How many samples are hidden that should be shown, or the other way round: none, unless a store is damaged.
  mutating func countWrong() throws -> Int {
    try decidable().reduce(0) { wrong, place in
      try wrong
        + decided(place.type, Timestamp(seconds: place.second), limit: .max).rows
        .count { $0.isHidden != $0.shouldHide }
    }
  }

  /// Types and seconds in which anything may be hidden.
  private func decidable() throws -> [(type: Int64, second: Int64)] {
    let types = try Int64.fetchAll(
      db,
      sql: """
        SELECT id FROM type WHERE derived BETWEEN 1 AND samples - 1 OR identifier = ?
          OR EXISTS(SELECT 1 FROM visibility WHERE type = type.id)
          OR EXISTS(SELECT 1 FROM tombstone WHERE type = type.id AND duration IS NOT NULL)
        """, arguments: [SampleType.workout.rawValue])
    let second = Self.second(of: "start")
    return try types.flatMap { type in
      try Int64.fetchAll(
        db,
        sql: """
          SELECT \(second) FROM sample WHERE type = ?1 GROUP BY 1 HAVING COUNT(*) > 1
          UNION SELECT \(second) FROM tombstone WHERE type = ?1 AND duration IS NOT NULL
          UNION SELECT \(second) FROM visibility JOIN sample ON change = sample WHERE visibility.type = ?1
          """, arguments: [type]
      ).map { (type, $0 / 1_000_000) }
    }
  }

  // MARK: Asking

  /// Whether a sample is hidden, by its change number.
  static func isHidden(_ change: Int64, _ db: Database) throws -> Bool {
    var query = try Binding(db, "SELECT 1 FROM visibility WHERE sample = ? AND isHidden")
    query.bind(change)
    return try query.integer(db) != nil
  }

  /// A sample that is shown and says what this hidden one says; `nil` where there is none.
  mutating func shown(
    insteadOf change: Int64, type: Int64, start: Int64
  ) throws -> (change: Int64, start: Int64, uuid: UUID)? {
    let rows = try decided(type, Timestamp(microseconds: start), limit: Self.maximumSamples + 1).rows
    guard let hidden = rows.first(where: { $0.change == change }) else { return nil }
    return rows.first { !$0.shouldHide && $0.group == hidden.group && $0.valueClass == hidden.valueClass }
      .map { ($0.change, $0.start, $0.uuid) }
  }

  /// The UUIDs of deleted samples because of which this one is hidden, and nothing is shown in its place.
  mutating func deletions(hiding change: Int64, type: Int64, start: Int64) throws -> [UUID] {
    guard try Self.isHidden(change, db), try shown(insteadOf: change, type: type, start: start) == nil else {
      return []
    }
    let (rows, gone) = try decided(type, Timestamp(microseconds: start), limit: Self.maximumSamples + 1)
    guard let hidden = rows.first(where: { $0.change == change }) else { return [] }
    return gone.filter { $0.group == hidden.group }.map(\.uuid)
  }

  // MARK: Groups

  private struct Group: Hashable {
    var source: ExactText
    /// The second of the end.
    var end: Int64
  }

  /// A stored sample.
  private struct Row {
    var change: Int64
    var start: Int64
    var uuid: UUID
    var road: SampleRoad
    var group: Group
    var value: StatedValue
    var valueClass = 0
    var isHidden: Bool
    var shouldHide = false
  }

  /// A tombstone.
  private struct Deletion {
    var uuid: UUID
    var road: SampleRoad
    var hint: UInt8?
    /// `nil` where nothing was deleted by it, or nobody knows what.
    var group: Group?
  }

  /// The samples that start in the same second as `start`, with what is right for each, and the deletions that count.
  private mutating func decided(
    _ type: Int64, _ start: Timestamp, limit: Int
  ) throws -> (rows: [Row], gone: [Deletion]) {
    var rows = try samples(type, start, limit: limit)
    guard rows.count <= Self.maximumSamples, let deletions = try deletions(type, start) else { return (rows, []) }
    let lines = RestorationLines(deletions.map(\.uuid), present: rows.map(\.uuid))
    let name = try names.name(type)
    let allGone = deletions.filter { $0.group != nil && lines.isGone($0.uuid) }
    for (group, indices) in Dictionary(grouping: rows.indices, by: { rows[$0].group }) {
      let gone = allGone.filter { $0.group == group }
      if indices.count == 1, gone.isEmpty { continue }
      let roads = Dictionary(deletions.map { ($0.uuid, $0.road) }) { first, _ in first }
      var members: [CountingRule.Member] = []
      for index in indices {
        let root = lines.roots[rows[index].uuid]
        members.append(
          CountingRule.Member(
            uuid: rows[index].uuid,
            family: .init(root ?? rows[index].uuid, road: root.flatMap { roads[$0] } ?? rows[index].road),
            valueClass: 0,
            hints: gone.isEmpty ? nil : hints(of: rows[index], name)))
      }
      try classify(&members, indices.map { rows[$0].value })
      for (member, index) in zip(members, indices) { rows[index].valueClass = member.valueClass }
      let rule = CountingRule(gone.map { .init(family: .init($0.uuid, road: $0.road), hint: $0.hint) })
      for hidden in rule.hidden(members) { rows[indices[hidden]].shouldHide = true }
    }
    return (rows, allGone)
  }

  private func hints(of row: Row, _ type: SampleType) -> Set<UInt8>? {
    if case .quantity(let quantity) = row.value { ValueHint.all(of: quantity, type) } else { nil }
  }

  /// Gives the members that say the same one class. What an export says is rounded, so the others are compared with that first.
  private func classify(_ members: inout [CountingRule.Member], _ values: [StatedValue]) throws {
    var representatives: [Int] = []
    let order = members.indices.sorted {
      (members[$0].family.rawValue, members[$0].uuid.uuidString)
        < (members[$1].family.rawValue, members[$1].uuid.uuidString)
    }
    for index in order {
      let known = representatives.first { values[$0].isEquivalent(to: values[index]) }
      if known == nil { representatives.append(index) }
      members[index].valueClass = known ?? index
    }
  }

  private mutating func samples(_ type: Int64, _ start: Timestamp, limit: Int) throws -> [Row] {
    var query = try Binding(
      db,
      """
      SELECT change, start, uuid, duration, source, kind, value, unit, payload, road, isHidden
      FROM sample LEFT JOIN visibility ON sample = change
      WHERE sample.type = ? AND start BETWEEN ? AND ? ORDER BY start, uuid LIMIT ?
      """)
    query.bind(type)
    query.bind(start.second)
    query.bind(Int64(limit))
    var rows: [Row] = []
    try query.rows(db) { row in
      let kind = try kinds.value(of: row.integer(5), db)
      // Of these, a newer reading takes the place of an older one.
      if Payload.kindsOneAtATime.contains(kind) { return true }
      // So many are shown whatever they say.
      let isTooMany = rows.count > Self.maximumSamples
      rows.append(
        Row(
          change: row.integer(0), start: row.integer(1), uuid: try row.uuid(2),
          road: SampleRoad(stored: row.integer(9)),
          group: try group(start: row.integer(1), duration: row.integer(3), source: row.integer(4)),
          value: isTooMany
            ? .only
            : try StatedValue(
              kind: kind, number: row.optionalDouble(6),
              unit: try row.optionalInteger(7).map { try units.value(of: $0, db) }, payload: { row.text(8) }),
          isHidden: row.integer(10) != 0))
      return true
    }
    return rows
  }

  /// `nil` for too many.
  private mutating func deletions(_ type: Int64, _ start: Timestamp) throws -> [Deletion]? {
    var query = try Binding(
      db,
      "SELECT uuid, start, duration, source, road, hint FROM tombstone WHERE type = ? AND start BETWEEN ? AND ? LIMIT ?"
    )
    query.bind(type)
    query.bind(start.second)
    query.bind(Int64(Self.maximumSamples + 1))
    var deletions: [Deletion] = []
    try query.rows(db) { row in
      var group: Group?
      if let duration = row.optionalInteger(2), let source = row.optionalInteger(3) {
        group = try self.group(start: row.integer(1), duration: duration, source: source)
      }
      deletions.append(
        Deletion(
          uuid: try row.uuid(0), road: SampleRoad(stored: row.integer(4)),
          hint: row.optionalInteger(5).flatMap(UInt8.init(exactly:)), group: group))
      return true
    }
    return deletions.count > Self.maximumSamples ? nil : deletions
  }

  private mutating func group(start: Int64, duration: Int64, source: Int64) throws -> Group {
    Group(
      source: ExactText(try sources.value(of: source, db)),
      end: Timestamp(microseconds: start &+ duration).seconds)
  }
}

/// Text that is equal to another only byte for byte.
private struct ExactText: Hashable {
  private let bytes: [UInt8]

  init(_ text: String) { bytes = Array(text.utf8) }
}

/// Which samples of one second are others that were deleted and brought back.
private struct RestorationLines {
  /// By the UUID of a sample that is here, that of the deleted one which it is.
  private(set) var roots: [UUID: UUID] = [:]
  /// The deleted ones that were brought back, and those that are such a restoration deleted again.
  private var others: Set<UUID> = []

  init(_ deleted: [UUID], present: [UUID]) {
    let (graves, present) = (Set(deleted), Set(present))
    for root in deleted {
      for ordinal in 0...deleted.count {
        let restored = SampleIdentity.uuid(ofRestored: root, ordinal: ordinal)
        if graves.contains(restored) {
          others.insert(restored)
          continue
        }
        if present.contains(restored) {
          roots[restored] = root
          others.insert(root)
        }
        break
      }
    }
  }

  /// Whether a tombstone stands for something that is not here in any form.
  func isGone(_ uuid: UUID) -> Bool { !others.contains(uuid) }
}
