import Foundation
import GRDB
import GRDBSQLite
import HealthModel

/// An inserter of samples, several per statement if possible: single inserts take half as long again.
struct SampleInsertion {
  /// The maximum number of rows in one INSERT statement. More rows save no time.
  static let rowLimit = 32

  private let db: Database
  /// The road of samples that have none of their own.
  private let road: SampleRoad
  private let single: Statement
  private let many: Statement
  private let comparison: Statement

  init(_ db: Database, road: SampleRoad) throws {
    self.db = db
    self.road = road
    single = try db.cachedStatement(sql: Self.sql(rows: 1))
    many = try db.cachedStatement(sql: Self.sql(rows: Self.rowLimit))
    let columns = StoredChanges.sampleColumns.split(separator: ", ").filter { !["road", "statement"].contains($0) }
    comparison = try db.cachedStatement(
      sql: """
        SELECT road FROM sample WHERE \(columns.map { "\($0) IS ?" }.joined(separator: " AND "))
          AND ? IS NOT NULL AND (? IS NULL OR TRUE)
        """)
  }

  private static func sql(rows: Int) -> String {
    let row = "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
    return """
      INSERT INTO sample(\(StoredChanges.sampleColumns))
      VALUES \(Array(repeating: row, count: rows).joined(separator: ","))
      ON CONFLICT(type, start, uuid) DO NOTHING
      """
  }

  /// Inserts the samples at `indices`, all of one type, with consecutive numbers from `first`.
  ///
  /// - Returns: the number of each sample, or `nil` for a sample that existed already.
  func insert(
    _ indices: [Int], of changes: CodedChanges, type: Int64, first: Int64, _ ids: inout DictionaryIDs
  ) throws -> [Int64?] {
    if indices.count == Self.rowLimit {
      var binding = Binding(many)
      try changes.samples.withUnsafeBufferPointer { samples in
        for (offset, index) in indices.enumerated() {
          try bind(samples, index, of: changes, type: type, number: first + Int64(offset), &ids, &binding)
        }
        try binding.run(db)
      }
      if Int(sqlite3_changes(db.sqliteConnection)) == indices.count {
        return indices.indices.map { first + Int64($0) }
      }
      return try closeGaps(first: first, count: indices.count)
    }
    var number = first
    return try indices.map { index in
      var binding = Binding(single)
      try changes.samples.withUnsafeBufferPointer { samples in
        try bind(samples, index, of: changes, type: type, number: number, &ids, &binding)
        try binding.run(db)
      }
      guard sqlite3_changes(db.sqliteConnection) == 1 else { return nil }
      number += 1
      return number - 1
    }
  }

  /// Returns whether a stored row equals a sample byte for byte and came by a road that is at least as good.
  ///
  /// - Parameter change: the change number of the row.
  func isStored(
    _ index: Int, of changes: CodedChanges, type: Int64, as change: Int64, _ ids: inout DictionaryIDs
  ) throws -> Bool {
    var binding = Binding(comparison)
    let stored = try changes.samples.withUnsafeBufferPointer { samples in
      try bind(samples, index, of: changes, type: type, number: change, &ids, &binding)
      return try binding.integer(db)
    }
    return stored.map { SampleRoad(stored: $0).rank <= roadOf(changes.samples[index]).rank } ?? false
  }

  /// Returns the sample's own road, or this writer's road if the sample has none.
  func roadOf(_ sample: CodedSample) -> SampleRoad { sample.road == .unknown ? road : sample.road }

  /// Renumbers rows after some were not inserted because they existed, so that the assigned numbers have no gaps.
  private func closeGaps(first: Int64, count: Int) throws -> [Int64?] {
    let end = first + Int64(count) - 1
    let taken = Set(
      try Int64.fetchAll(db, sql: "SELECT change FROM sample WHERE change BETWEEN ? AND ?", arguments: [first, end]))
    var number = first
    return try (first...end).map { given in
      guard taken.contains(given) else { return nil }
      if given != number {
        try db.execute(sql: "UPDATE sample SET change = ? WHERE change = ?", arguments: [number, given])
      }
      number += 1
      return number - 1
    }
  }

  /// Binds the values of one row.
  ///
  /// - Parameter samples: the samples of `changes`, which must stay in place until the statement has run.
  private func bind(
    _ samples: UnsafeBufferPointer<CodedSample>, _ index: Int, of changes: CodedChanges, type: Int64, number: Int64,
    _ ids: inout DictionaryIDs, _ binding: inout Binding
  ) throws {
    let sample = samples[index]
    let start = sample.start.microseconds
    binding.bind(number)
    binding.bind(type)
    binding.bind(start)
    binding.bind(samples.pointer(toUUIDOf: index))
    binding.bind(sample.end.microseconds &- start)
    binding.bind(sample.created.map { $0.microseconds &- start })
    binding.bind(try ids.source(sample.source, db))
    binding.bind(try sample.device.map { try ids.device($0, db) })
    binding.bind(try ids.kind(sample.kind, db))
    binding.bind(sample.number)
    binding.bind(try sample.unit.map { try ids.unit($0, db) })
    binding.bind(sample.payload.map { changes.payloads[Int($0)] })
    binding.bind(sample.metadata.map { changes.metadata[Int($0)] })
    binding.bind(Int64(roadOf(sample).rawValue))
    binding.bind(sample.statement.map { changes.statements[Int($0)] })
  }
}

extension UnsafeBufferPointer<CodedSample> {
  private static let uuidOffset: Int = {
    guard let offset = MemoryLayout<CodedSample>.offset(of: \.uuid) else { preconditionFailure("it is stored") }
    return offset
  }()

  fileprivate func pointer(toUUIDOf index: Int) -> UnsafePointer<UUID> {
    guard let base = baseAddress else { preconditionFailure("there is no sample \(index)") }
    return (UnsafeRawPointer(base + index) + Self.uuidOffset).assumingMemoryBound(to: UUID.self)
  }
}
