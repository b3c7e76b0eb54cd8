import Foundation
import GRDB
import GRDBSQLite
import HealthModel

/// Inserts samples, many with one statement where it can: the same rows one by one take half as long again.
struct SampleInsertion {
  /// Maximum rows of one INSERT statement; more gain nothing.
  static let rowLimit = 32

  private let db: Database
  /// Of samples that do not say theirs.
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

  /// Inserts the samples at `indices`, all of one type, under the numbers from `first` on, without a gap.
  ///
  /// - Returns: for each, its number; `nil` for one that was there.
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

  /// Whether a row of the store says byte for byte what a sample says, and came by a road that is no worse.
  ///
  /// - Parameter change: the number of the row.
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

  /// - Returns: the road of this writer for a sample that does not say its own.
  func roadOf(_ sample: CodedSample) -> SampleRoad { sample.road == .unknown ? road : sample.road }

  /// Some of the rows were there: the others move up, so that every number that is given out is taken.
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

  /// - Parameter samples: those of `changes`, which must stay where they are until the statement has run.
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
