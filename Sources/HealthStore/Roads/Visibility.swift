import Foundation
import GRDB
import HealthModel

/// Keeps the table `visibility`: which samples are hidden, because one that came by another road is shown in their place
/// (``CountingRule``).
///
/// All samples are stored and travel; what people and consumers on this machine see are those that are not hidden. The
/// table follows from `sample` and `tombstone`, and has rows only for samples that are hidden or once were.
struct Visibility {
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
  private var reader: SecondReader
  /// Change numbers of this transaction that stand for samples which consumers may know.
  private var renewed: Set<Int64> = []

  init(_ db: Database) {
    self.db = db
    reader = SecondReader(db)
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
    guard let seen, try ConsumerRow.exists(db) else { return }
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
  ///   - first: the counter before the transaction. Consumers have not met what got a later number.
  ///   - counter: moves on for each sample that was seen and is hidden, or that was hidden and is shown.
  mutating func update(
    type: Int64, second: Int64, touched: Int? = nil, after first: Int64, counter: inout Int64
  ) throws {
    // One more than there can be if so few were there before that some may be hidden.
    let limit = touched.map { SecondReader.maximumSamples + $0 + 1 } ?? .max
    let samples = try reader.read(type, Timestamp(seconds: second), limit: limit).samples
    if samples.count == limit { return }
    for row in samples where row.isHidden != row.shouldHide {
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
        + reader.read(place.type, Timestamp(seconds: place.second), limit: .max).samples
        .count { $0.isHidden != $0.shouldHide }
    }
  }

  /// Types and seconds in which anything may be hidden.
  private func decidable() throws -> [(type: Int64, second: Int64)] {
    // One by one, because some of this looks at every row of `visibility`.
    let types = try Int64.fetchAll(db, sql: "SELECT id FROM type").filter(mayHide)
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

  /// Whether samples of a type may be hidden.
  private func mayHide(_ type: Int64) throws -> Bool {
    try Bool.fetchOne(
      db,
      sql: """
        SELECT derived BETWEEN 1 AND samples - 1 OR identifier = ?2 OR identifier NOT GLOB 'HK*' OR derived > 0 AND roads & ?3
          OR EXISTS(SELECT 1 FROM visibility WHERE type = ?1)
          OR EXISTS(SELECT 1 FROM tombstone WHERE type = ?1 AND duration IS NOT NULL)
        FROM type WHERE id = ?1
        """, arguments: [type, SampleType.workout.rawValue, TypeTally.appRoads]) ?? false
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
    let second = try reader.read(type, Timestamp(microseconds: start))
    guard let hidden = second.samples.first(where: { $0.change == change }) else { return nil }
    return second.shown(insteadOf: hidden).map { ($0.change, $0.start, $0.uuid) }
  }

  /// The UUIDs of deleted samples because of which this one is hidden, and nothing is shown in its place.
  mutating func deletions(hiding change: Int64, type: Int64, start: Int64) throws -> [UUID] {
    let second = try reader.read(type, Timestamp(microseconds: start))
    guard let sample = second.samples.first(where: { $0.change == change }), sample.isHidden,
      second.shown(insteadOf: sample) == nil
    else { return [] }
    return second.gone.filter { $0.group == sample.group }.map(\.uuid)
  }
}
