import Foundation
import GRDB
import GRDBSQLite
import HealthModel

/// A finder of the row with one of HealthKit's UUIDs among rows that start about the same time, within one
/// transaction.
///
/// The index has the start before the UUID, so a search (`UUID.range(ofStart:)`) steps over all rows that start then.
/// Usually these are a few rows, at no cost. If there are many thousands, which only an unusual source has, repeated
/// searches would have quadratic cost: therefore a crowded second is read once and then kept in memory.
///
/// Report inserted and removed rows while any second is in memory (``isInUse``).
final class CrowdedSeconds {
  enum Table {
    case sample, tombstone

    fileprivate var window: String {
      switch self {
      case .sample: "SELECT uuid, change FROM sample WHERE type = ? AND start BETWEEN ? AND ? LIMIT ?"
      case .tombstone: "SELECT uuid, change FROM tombstone WHERE type = ? AND start BETWEEN ? AND ? LIMIT ?"
      }
    }

    fileprivate var search: String {
      switch self {
      case .sample: "SELECT change, start FROM sample WHERE type = ? AND start BETWEEN ? AND ? AND uuid = ?"
      case .tombstone: "SELECT change, start FROM tombstone WHERE type = ? AND start BETWEEN ? AND ? AND uuid = ?"
      }
    }

    fileprivate var byChange: String {
      switch self {
      case .sample: "SELECT change, start FROM sample WHERE change = ?"
      case .tombstone: "SELECT change, start FROM tombstone WHERE change = ?"
      }
    }
  }

  /// The result of a lookup in memory.
  enum Answer: Equatable {
    case unknown
    case absent
    /// The change number of a row with this UUID that starts within two seconds. The caller must compare the start.
    case perhaps(Int64)
  }

  private struct Second: Hashable {
    var type: Int64
    var seconds: Int64
  }

  /// The rows that start in a second, in the one before or in the one after.
  private struct Crowd {
    var changes: [UUID: Int64] = [:]
    /// The UUIDs with several rows, which are looked up in the table.
    var repeated: Set<UUID> = []
  }

  /// The number of virtual machine steps from which a search counts as expensive: some hundred rows.
  private static let manySteps: Int32 = 2_000
  /// The maximum number of rows in memory for all seconds together: some 20 MB. Other rows are looked up in the
  /// table.
  private let maximumRows: Int

  private let db: Database
  private let table: Table
  private var crowds: [Second: Crowd] = [:]
  private var rows = 0
  /// The seconds with more rows than the maximum, which are not read again.
  private var overcrowded: Set<Second> = []

  init(_ db: Database, _ table: Table, maximumRows: Int = 400_000) {
    (self.db, self.table, self.maximumRows) = (db, table, maximumRows)
  }

  /// Whether changes must be reported.
  var isInUse: Bool { !crowds.isEmpty }

  func answer(_ uuid: UUID, start: Int64, type: Int64) -> Answer {
    if crowds.isEmpty || uuid.isDerived { return .unknown }
    guard let crowd = crowds[Second(type: type, seconds: Timestamp(microseconds: start).seconds)],
      !crowd.repeated.contains(uuid)
    else { return .unknown }
    return crowd.changes[uuid].map(Answer.perhaps) ?? .absent
  }

  /// Records the cost of a search, and reads the second into memory if it is crowded.
  ///
  /// - Parameter steps: ``Binding/takeSteps()`` of the statement that searched.
  func noteLook(steps: Int32, _ uuid: UUID, start: Int64, type: Int64) throws {
    guard steps > Self.manySteps, !uuid.isDerived else { return }
    let second = Second(type: type, seconds: Timestamp(microseconds: start).seconds)
    if crowds[second] != nil || overcrowded.contains(second) { return }
    let (first, isFirst) = Timestamp(seconds: second.seconds).microseconds.subtractingReportingOverflow(1_000_000)
    let (last, isLast) = Timestamp(seconds: second.seconds).microseconds.addingReportingOverflow(1_999_999)
    var query = try Binding(db, table.window)
    query.bind(type)
    query.bind((isFirst ? .min : first)...(isLast ? .max : last))
    query.bind(Int64(maximumRows + 1))
    var (crowd, count) = (Crowd(), 0)
    try query.rows(db) { row in
      count += 1
      let uuid = try row.uuid(0)
      if !uuid.isDerived, crowd.changes.updateValue(row.integer(1), forKey: uuid) != nil { crowd.repeated.insert(uuid) }
      return true
    }
    if count > maximumRows {
      overcrowded.insert(second)
      return
    }
    if rows + count > maximumRows { forget() }
    crowds[second] = crowd
    rows += count
  }

  /// Returns the row with a UUID and a start close to `start`, or `nil` if there is none.
  ///
  /// - Parameters:
  ///   - search: a query for `type = ? AND start BETWEEN ? AND ? AND uuid = ?`.
  ///   - byChange: a query for the same columns with `change = ?`. The second column is the start.
  func row<Row>(
    _ uuid: UUID, start: Int64, type: Int64, _ search: Statement, _ byChange: Statement,
    _ read: (StoredColumns) throws -> Row
  ) throws -> Row? {
    let answer = answer(uuid, start: start, type: type)
    var binding: Binding
    switch answer {
    case .absent: return nil
    case .perhaps(let change):
      binding = Binding(byChange)
      binding.bind(change)
    case .unknown:
      binding = Binding(search)
      binding.bind(type: type, start: start, uuid)
    }
    var found: Row?
    try binding.rows(db) { columns in
      if answer == .unknown || uuid.range(ofStart: start).contains(columns.integer(1)) { found = try read(columns) }
      return false
    }
    if answer == .unknown { try noteLook(steps: binding.takeSteps(), uuid, start: start, type: type) }
    return found
  }

  /// Returns the change number of the row with a UUID and a start close to `start`, or `nil` if there is none.
  func find(_ uuid: UUID, start: Int64, type: Int64) throws -> Int64? {
    let (search, byChange) = (try db.cachedStatement(sql: table.search), try db.cachedStatement(sql: table.byChange))
    return try row(uuid, start: start, type: type, search, byChange) { $0.integer(0) }
  }

  // MARK: What changes

  func inserted(_ uuid: UUID, start: Int64, change: Int64, type: Int64) {
    if uuid.isDerived { return }
    for second in seconds(around: start, type) {
      guard crowds[second] != nil else { continue }
      rows += 1
      if crowds[second]?.changes.updateValue(change, forKey: uuid) != nil { crowds[second]?.repeated.insert(uuid) }
    }
    if rows > maximumRows { forget() }
  }

  func removed(_ uuid: UUID, start: Int64, type: Int64) {
    for second in seconds(around: start, type) { crowds[second]?.changes[uuid] = nil }
  }

  func forget() {
    crowds = [:]
    rows = 0
  }

  /// Returns the seconds whose crowds contain a row with this start.
  private func seconds(around start: Int64, _ type: Int64) -> [Second] {
    let own = Timestamp(microseconds: start).seconds
    return [own &- 1, own, own &+ 1].map { Second(type: type, seconds: $0) }
  }
}
