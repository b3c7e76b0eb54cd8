import Foundation
import GRDB
import HealthModel

/// The maintenance of the table `visibility`: the samples that are hidden because a sample that came by another road
/// is shown in their place (``CountingRule``).
///
/// All samples are stored and sent to peers. People and consumers on this machine see only those that are not hidden.
/// The table is derived from `sample` and `tombstone`, and has rows only for samples that are or once were hidden.
struct Visibility {
  /// An SQL expression for a row of `type`: the number of shown samples.
  static let shownSamples =
    "samples - (SELECT COUNT(*) FROM visibility WHERE visibility.type = type.id AND isHidden)"

  /// Returns an SQL expression for the beginning of the second that contains a time.
  static func second(of column: String) -> String { "(\(column) - (\(column) % 1000000 + 1000000) % 1000000)" }

  /// Returns an SQL condition for the shown rows of `sample`, which follows another condition. Empty if all samples
  /// are shown.
  static func condition(_ db: Database) throws -> String {
    try isUsed(db) ? " AND NOT EXISTS(SELECT 1 FROM visibility WHERE sample = sample.change AND isHidden)" : ""
  }

  /// Returns whether any sample is hidden, or ever was.
  static func isUsed(_ db: Database) throws -> Bool {
    try Binding(db, "SELECT 1 FROM visibility LIMIT 1").integer(db) != nil
  }

  private let db: Database
  private var reader: SecondReader
  /// The change numbers in this transaction of samples that consumers may know under other numbers.
  private var renewed: Set<Int64> = []

  init(_ db: Database) {
    self.db = db
    reader = SecondReader(db)
  }

  // MARK: Keeping it

  /// The change number and visibility under which consumers have received a sample.
  struct Seen {
    fileprivate var type: Int64
    fileprivate var isHidden: Bool
    fileprivate var number: Int64?
  }

  /// Returns the number and visibility under which consumers have received a sample.
  ///
  /// - Parameters:
  ///   - change: the change number of the sample.
  ///   - type: the row id of the type.
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

  /// Records that a sample has got another change number.
  ///
  /// - Parameter seen: where consumers have received the sample, if its content is unchanged: then they do not
  ///   receive it again.
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

  /// Updates which samples of a type that start in one second are hidden.
  ///
  /// - Parameters:
  ///   - type: the row id of the type.
  ///   - second: the second since 1970.
  ///   - touched: the number of samples that were added or removed there since the last update; `nil` if it is
  ///     unknown.
  ///   - first: the counter before the transaction. Consumers have not received later numbers.
  ///   - counter: increased for each known sample that becomes hidden, and for each hidden one that is shown again.
  mutating func update(
    type: Int64, second: Int64, touched: Int? = nil, after first: Int64, counter: inout Int64
  ) throws {
    // A limit above the possible number of samples, if the second had so few samples before that some may be hidden.
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

  /// Updates the visibility of all samples of the store. Reads all types that may have hidden samples.
  mutating func updateAll(after first: Int64, counter: inout Int64) throws {
    for (type, second) in try decidable() {
      try update(type: type, second: second, after: first, counter: &counter)
    }
  }

  /// Returns the number of samples with wrong visibility: 0 unless the store is damaged.
  mutating func countWrong() throws -> Int {
    try decidable().reduce(0) { wrong, place in
      try wrong
        + reader.read(place.type, Timestamp(seconds: place.second), limit: .max).samples
        .count { $0.isHidden != $0.shouldHide }
    }
  }

  /// Returns the types and seconds in which samples may be hidden.
  private func decidable() throws -> [(type: Int64, second: Int64)] {
    // One type at a time, because part of the query reads every row of `visibility`.
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

  /// Returns whether samples of a type may be hidden.
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

  /// Returns whether a sample is hidden, by its change number.
  static func isHidden(_ change: Int64, _ db: Database) throws -> Bool {
    var query = try Binding(db, "SELECT 1 FROM visibility WHERE sample = ? AND isHidden")
    query.bind(change)
    return try query.integer(db) != nil
  }

  /// Returns a shown sample with the content of this hidden one, or `nil` if there is none.
  mutating func shown(
    insteadOf change: Int64, type: Int64, start: Int64
  ) throws -> (change: Int64, start: Int64, uuid: UUID)? {
    let second = try reader.read(type, Timestamp(microseconds: start))
    guard let hidden = second.samples.first(where: { $0.change == change }) else { return nil }
    return second.shown(insteadOf: hidden).map { ($0.change, $0.start, $0.uuid) }
  }

  /// Returns the UUIDs of the deleted samples because of which this sample is hidden without a sample in its place.
  mutating func deletions(hiding change: Int64, type: Int64, start: Int64) throws -> [UUID] {
    let second = try reader.read(type, Timestamp(microseconds: start))
    guard let sample = second.samples.first(where: { $0.change == change }), sample.isHidden,
      second.shown(insteadOf: sample) == nil
    else { return [] }
    return second.gone.filter { $0.group == sample.group }.map(\.uuid)
  }
}
