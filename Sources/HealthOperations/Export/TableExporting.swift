import HealthFormats
import HealthModel
import OperatingSystem
import SQLiteFiles

extension ExportFormat {
  /// An SQLite database with the tables that the program healthkit-to-sqlite makes of Apple's export.
  public static let sqlite = ExportFormat(
    "sqlite", suffix: "db", otherSuffixes: ["sqlite", "sqlite3"], lack: "healthkit-to-sqlite has no table",
    isStream: false, takes: .offset
  ) { exporting, content in
    try await exporting.writeTables(HealthKitTables(offset: content.options.offset))
  }
}

extension Exporting {
  /// Writes the samples by type; the points of routes are written with their workouts.
  ///
  /// The sink must be a file, and receives no bytes here: SQLite writes the file itself, and not in order.
  fileprivate func writeTables(_ tables: HealthKitTables) async throws -> ExportSummary {
    guard let file else { throw ExportError.needsFile(.sqlite) }
    return try await writing {
      let database = try await onTable(file) {
        let database = try TableFile(path: file.temporaryPath, beginning: Self.columns)
        for name in [HealthKitTables.summaries, HealthKitTables.workouts, HealthKitTables.points] {
          try database.makeTable(name)
        }
        return database
      }
      var tables = tables
      var summary = ExportSummary()
      var (written, points) = (0, 0)
      var routes = try await reader.routes()
      for type in plan.types {
        if let first = try await reader.first(of: type), AppleExportWriter.section(of: first) == .routes {
          let count = try await reader.count(of: type)
          stage.advance(items: count, bytes: 0)
          // Corrected below for routes that were written with their workouts.
          summary.omitted[type] = count
          continue
        }
        try await reader.codedPages(of: type) { page in
          var rows: [TableFile.Row] = []
          rows.reserveCapacity(page.samples.count)
          let plain = try decoding { try PlainTableRows(page, offset: tables.offset) }
          var expander: ChangeExpander?
          for coded in page.samples {
            if let row = plain.row(of: coded) {
              rows.append(TableFile.Row(row))
              summary.written += 1
              continue
            }
            let whole = try expander ?? decoding { try ChangeExpander(page) }
            expander = whole
            let sample = try decoding { try whole.sample(coded) }
            guard let row = tables.row(of: sample) else {
              summary.omitted[type, default: 0] += 1
              continue
            }
            rows.append(TableFile.Row(row))
            summary.written += 1
            guard row.table == HealthKitTables.workouts, case .text(let workout)? = row["id"] else { continue }
            for reference in routes.removeValue(forKey: sample.reference) ?? [] {
              guard let route = try await reader.store.samples.sample(reference) else { continue }
              let found = tables.points(of: route, workout: workout)
              rows += found.map(TableFile.Row.init)
              points += found.count
              written += 1
              try await insert(&rows, into: database, file)
            }
          }
          try await insert(&rows, into: database, file)
          stage.advance(items: page.samples.count, bytes: 0)
        }
      }
      try await onTable(file) { try database.finish() }
      summary.count(routes: written, points: points)
      return summary
    }
  }

  private func insert(_ rows: inout [TableFile.Row], into database: TableFile, _ file: OutputFile) async throws {
    let ready = rows
    rows.removeAll(keepingCapacity: true)
    try await onTable(file) { try database.insert(ready) }
  }

  /// Runs `body` and reports undecodable data as damage of the store.
  private func decoding<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      return try body()
    } catch let error as DecodingError {
      throw reader.store.damage(error)
    }
  }

  private func onTable<Value: Sendable>(
    _ file: OutputFile, _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await onThread { _ in
      do {
        return try work()
      } catch let failure as TableFile.Failure {
        switch failure {
        case .diskFull: throw ExportError.diskFull(path: file.path)
        case .unwritable(let reason): throw ExportError.unwritable(path: file.path, reason: reason)
        }
      }
    }
  }

  @Sendable private static func columns(of table: String) -> [TableFile.Column] {
    HealthKitTables.columns(of: table).map { column in
      let declaration =
        switch column.kind {
        case .text: "TEXT"
        case .number: "REAL"
        case .identifier: "TEXT PRIMARY KEY"
        case .workout: "TEXT REFERENCES \"\(HealthKitTables.workouts)\"(\"id\")"
        }
      return TableFile.Column(column.name, declaration)
    }
  }
}

extension TableFile.Row {
  fileprivate init(_ row: TableRow) {
    self.init(
      table: row.table, columns: row.columns,
      values: row.values.map { value in
        switch value {
        case .null: .null
        case .text(let text): .text(text)
        case .number(let number): .number(number)
        }
      })
  }
}
