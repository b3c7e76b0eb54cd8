import Foundation
import HealthAnalysis
import HealthFormats
import HealthModel

extension ExportFormat {
  /// Statistics of types by hour, day, week, month or year, as a table.
  public static let statisticsCSV = statistics("statistics-csv", suffix: "csv", isJSON: false)
  /// Statistics of types by hour, day, week, month or year, in JSON.
  public static let statisticsJSON = statistics("statistics-json", suffix: "json", isJSON: true)

  private static func statistics(_ name: String, suffix: String, isJSON: Bool) -> ExportFormat {
    ExportFormat(name, suffix: suffix, lack: "there are no statistics", takes: .statistics) { exporting, content in
      try await exporting.writeStatistics(content.options.statistics ?? .daysInUTC, isJSON: isJSON)
    }
  }
}

extension Exporting {
  /// Writes the statistics of types, as in `hpeer stats`, instead of their samples.
  fileprivate func writeStatistics(_ form: StatisticsForm, isJSON: Bool) async throws -> ExportSummary {
    try await writing {
      var summary = ExportSummary()
      var types: [SampleType] = []
      for type in plan.types {
        let count = try await reader.count(of: type)
        if try await isCounted(type) {
          types.append(type)
          summary.written += count
        } else {
          summary.omitted[type] = count
          stage.advance(items: count, bytes: 0)
        }
      }
      types += try await typesThatReachIn(form)
      types += AppReadings.answered(by: plan.types).subtracting(types).filter(reader.filter.passes)
        .filter { SampleTypeCatalogue.healthKit[$0]?.aggregation != nil }
        .sorted { $0.rawValue < $1.rawValue }
      switch form.shape {
      case .long: try await writeLong(types, form, isJSON, &summary)
      case .wide: try await writeWide(types, form, isJSON, &summary)
      }
      return summary
    }
  }

  /// Returns whether samples of a type have values that can be summed or averaged.
  private func isCounted(_ type: SampleType) async throws -> Bool {
    if let entry = SampleTypeCatalogue.healthKit[type] { return entry.aggregation != nil }
    guard case .quantity? = try await reader.first(of: type)?.payload else { return false }
    return true
  }

  /// Returns the types without a sample that begins in the exported time range, but with one that extends into it.
  private func typesThatReachIn(_ form: StatisticsForm) async throws -> [SampleType] {
    guard reader.filter.earliest != nil else { return [] }
    let rollups = Rollups(of: reader.store)
    var types: [SampleType] = []
    for entry in try await reader.store.samples.typeCounts()
    where reader.filter.passes(entry.type) && !plan.types.contains(entry.type) {
      guard SampleTypeCatalogue.healthKit[entry.type]?.aggregation != nil else { continue }
      var query = query(entry.type, form)
      query.size = .year
      if try await !query.run(on: rollups).values.isEmpty { types.append(entry.type) }
    }
    return types
  }

  func query(_ type: SampleType, _ form: StatisticsForm) -> StatisticsQuery {
    var query = StatisticsQuery(type, by: form.size, in: form.zone, now: form.now)
    (query.start, query.end) = (reader.filter.earliest, reader.filter.end)
    (query.sources, query.readingTypes) = (reader.filter.sources, reader.filter.types)
    query.weekStartsOnSunday = form.weekStartsOnSunday
    // One sample of the year 9999 must not make too many buckets.
    query.isPlausibleOnly = true
    return query
  }

  /// Returns the beginning of a JSON document: `{"format":"hpeer-statistics",…,`.
  func head(_ form: StatisticsForm) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(contentsOf: #"{"format":"hpeer-statistics","version":1,"shape":"\#(form.shape.rawValue)","#.utf8)
    bytes.append(contentsOf: #""bucket":"\#(form.size.rawValue)","zone":"#.utf8)
    bytes.append(quoted: form.zone.name)
    bytes.append(",")
    return bytes
  }

  /// The number of entries that are encoded before they are written to the output.
  private static var batch: Int { 2_000 }

  private func writeLong(
    _ types: [SampleType], _ form: StatisticsForm, _ isJSON: Bool, _ summary: inout ExportSummary
  ) async throws {
    let rollups = Rollups(of: reader.store)
    var bytes = isJSON ? head(form) + Array("\"statistics\":[".utf8) : StatisticsTable.header
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    for (index, type) in types.enumerated() {
      try Task.checkCancellation()
      let query = query(type, form)
      // The hours of a long record may not fit into memory, so they are queried year by year.
      let isDivided = form.size == .hour
      var whole = query
      if isDivided { whole.size = .year }
      var head = try await whole.run(on: rollups)
      head.size = form.size
      if isJSON { bytes.append(contentsOf: (index == 0 ? "\n" : ",\n").utf8) }
      if isJSON { Self.append(headOf: head, to: &bytes) }
      var rows = 0
      for part in isDivided ? query.parts(endingWith: head.values.map(\.bucket)) : [query] {
        let statistics = isDivided ? try await part.run(on: rollups) : head
        let entries = try part.entries(of: statistics, filling: form.fillsGaps)
        for first in stride(from: 0, to: entries.count, by: Self.batch) {
          let batch = entries[first..<min(first + Self.batch, entries.count)]
          if isJSON {
            for (offset, entry) in batch.enumerated() {
              if rows + first + offset > 0 { bytes.append(",") }
              let value = StatisticsObject.value(entry, statistics.aggregation, form.zone)
              bytes.append(contentsOf: try encoder.encode(value))
            }
          } else {
            StatisticsTable.append(statistics, batch, form.zone, to: &bytes)
          }
          try await flush(&bytes)
        }
        rows += entries.count
      }
      if isJSON { bytes.append("]}") }
      summary.rows += rows
      try await note(head, &summary)
    }
    if isJSON { bytes.append("\n]}\n") }
    try await flush(&bytes)
  }

  /// Appends the beginning of an object as in `hpeer stats --json`, up to its values.
  private static func append(headOf statistics: Statistics, to bytes: inout [UInt8]) {
    bytes.append("{\"type\":")
    bytes.append(quoted: statistics.type.shortName)
    if let unit = statistics.unit {
      bytes.append(",\"unit\":")
      bytes.append(quoted: unit)
    }
    bytes.append(",\"zone\":")
    bytes.append(quoted: statistics.zone)
    bytes.append(",\"bucket\":")
    bytes.append(quoted: statistics.size.rawValue)
    for (name, count) in [("withoutNumber", statistics.withoutNumber), ("withoutUnit", statistics.withoutUnit)]
    where count > 0 {
      bytes.append(contentsOf: ",\"\(name)\":\(count)".utf8)
    }
    bytes.append(",\"values\":[")
  }

  /// Counts samples without a usable value, and advances the progress.
  func note(_ statistics: Statistics, _ summary: inout ExportSummary) async throws {
    let left = statistics.withoutNumber + statistics.withoutUnit
    if left > 0 {
      summary.omitted[statistics.type, default: 0] += left
      summary.written -= left
    }
    stage.advance(items: try await reader.count(of: statistics.type), bytes: 0)
  }
}

extension StatisticsQuery {
  /// Returns consecutive queries that end with the ends of the buckets; the last has the end of this query.
  fileprivate func parts(endingWith buckets: [Bucket]) -> [StatisticsQuery] {
    var parts: [StatisticsQuery] = []
    var rest = self
    for bucket in buckets.dropLast() {
      var part = rest
      part.end = bucket.end
      parts.append(part)
      rest.start = bucket.end
    }
    return parts + [rest]
  }
}
