import HealthAnalysis
import HealthFormats
import HealthModel

extension Exporting {
  /// A column of the wide layout.
  private struct Column {
    enum Statistic: String { case sum, mean, min, max }

    var type: SampleType
    var statistic: Statistic
    var unit: String?

    /// The name: `stepCount`, `heartRate.mean`.
    var name: String { statistic == .sum ? type.shortName : "\(type.shortName).\(statistic.rawValue)" }
    /// The name with the unit.
    var title: String { unit.map { "\(name) (\($0))" } ?? name }

    /// Returns the column's value from a bucket, converted to ``unit``.
    func number(_ entry: BucketStatistics, in other: String?) -> Double? {
      let number: Double? =
        switch (entry.number, statistic) {
        case (.sum(let sum), .sum): sum.sum
        case (.discrete(let values), .mean): values.mean
        case (.discrete(let values), .min): values.minimum
        case (.discrete(let values), .max): values.maximum
        default: nil
        }
      guard let unit, let other, unit != other else { return number }
      return number.flatMap { UnitConversion.convert($0, from: other, to: unit) }
    }
  }

  /// A bucket with the values of all columns.
  private struct Row {
    var entry: BucketEntry
    var numbers: [Double?]
  }

  /// The maximum number of values in memory. The file is written in consecutive time ranges.
  private static var mostCells: Int { 200_000 }

  func writeWide(
    _ types: [SampleType], _ form: StatisticsForm, _ isJSON: Bool, _ summary: inout ExportSummary
  ) async throws {
    let rollups = Rollups(of: reader.store)
    var extent: Range<Timestamp>?
    var columns: [Column] = []
    for type in types {
      try Task.checkCancellation()
      // A query by year is fast, and tells the omitted samples, the unit, and the time range that has values.
      var query = query(type, form)
      query.size = .year
      let statistics = try await query.run(on: rollups)
      try await note(statistics, &summary)
      guard let first = statistics.values.first, let last = statistics.values.last else { continue }
      let kinds: [Column.Statistic] = statistics.aggregation == .cumulative ? [.sum] : [.mean, .min, .max]
      columns += kinds.map { Column(type: type, statistic: $0, unit: statistics.unit) }
      let found = first.bucket.start..<last.bucket.end
      extent = extent.map { min($0.lowerBound, found.lowerBound)..<max($0.upperBound, found.upperBound) } ?? found
    }
    var bytes = isJSON ? head(form) : Self.header(columns)
    if isJSON { Self.append(columns, to: &bytes) }
    if let extent, !columns.isEmpty {
      let numbered = Array(Set(columns.map(\.type))).sorted()
      try await writeRows(numbered, columns, extent, form, isJSON, &bytes, &summary)
    }
    if isJSON { bytes.append("\n]}\n") }
    try await flush(&bytes)
  }

  private func writeRows(
    _ types: [SampleType], _ columns: [Column], _ extent: Range<Timestamp>, _ form: StatisticsForm, _ isJSON: Bool,
    _ bytes: inout [UInt8], _ summary: inout ExportSummary
  ) async throws {
    let filter = reader.filter
    let range = (filter.earliest ?? extent.lowerBound)..<(filter.end ?? extent.upperBound)
    let buckets: CalendarBuckets
    do {
      buckets = try CalendarBuckets(
        form.size, in: form.zone, range, cutsStart: filter.earliest != nil, cutsEnd: filter.end != nil,
        weekStartsOnSunday: form.weekStartsOnSunday)
    } catch {
      throw StatisticsError.tooManyBuckets
    }
    let rollups = Rollups(of: reader.store)
    // One array shared by all rows without values.
    let none = [Double?](repeating: nil, count: columns.count)
    let step = max(16, Self.mostCells / columns.count)
    // Empty buckets between the first and the last value are gaps; those before and after are not.
    var gap: [Row] = []
    var hasBegun = filter.earliest != nil
    for first in stride(from: 0, to: buckets.count, by: step) {
      let last = min(first + step, buckets.count) - 1
      var rows = (first...last).map { index in
        let bucket = buckets[index]
        return Row(
          entry: BucketEntry(
            bucket: bucket, number: nil, isPartial: bucket.isCut || bucket.start <= form.now && form.now < bucket.end),
          numbers: none)
      }
      let places = Dictionary(uniqueKeysWithValues: rows.indices.map { (rows[$0].entry.bucket.start, $0) })
      var touched: Set<Int> = []
      for type in types {
        try Task.checkCancellation()
        var query = query(type, form)
        (query.start, query.end) = (rows[0].entry.bucket.start, rows[rows.count - 1].entry.bucket.end)
        let statistics = try await query.run(on: rollups)
        for (index, column) in columns.enumerated() where column.type == type {
          for value in statistics.values {
            guard let place = places[value.bucket.start] else { continue }
            rows[place].numbers[index] = column.number(value, in: statistics.unit)
            if value.isPartial { rows[place].entry.isPartial = true }
            touched.insert(place)
          }
        }
      }
      for index in rows.indices {
        guard touched.contains(index) else {
          if form.fillsGaps, hasBegun { gap.append(rows[index]) }
          continue
        }
        hasBegun = true
        for row in gap + [rows[index]] { append(row, columns, form, isJSON, to: &bytes, &summary) }
        gap.removeAll(keepingCapacity: true)
        if bytes.count > 1 << 20 { try await flush(&bytes) }
      }
    }
    if filter.end != nil { for row in gap { append(row, columns, form, isJSON, to: &bytes, &summary) } }
  }

  // MARK: Text

  private static func header(_ columns: [Column]) -> [UInt8] {
    var bytes = Array("bucket,zone,start,end,date,partial".utf8)
    for column in columns {
      bytes.append(UInt8(ascii: ","))
      SampleCSVWriter.append(column.title, to: &bytes)
    }
    bytes.append(contentsOf: [0x0D, 0x0A])
    return bytes
  }

  private static func append(_ columns: [Column], to bytes: inout [UInt8]) {
    bytes.append("\"columns\":[")
    for (index, column) in columns.enumerated() {
      bytes.append(index == 0 ? "\n{\"name\":" : ",\n{\"name\":")
      bytes.append(quoted: column.name)
      bytes.append(",\"type\":")
      bytes.append(quoted: column.type.shortName)
      bytes.append(contentsOf: ",\"statistic\":\"\(column.statistic.rawValue)\"".utf8)
      if let unit = column.unit {
        bytes.append(",\"unit\":")
        bytes.append(quoted: unit)
      }
      bytes.append("}")
    }
    bytes.append("\n],\"rows\":[")
  }

  private func append(
    _ row: Row, _ columns: [Column], _ form: StatisticsForm, _ isJSON: Bool, to bytes: inout [UInt8],
    _ summary: inout ExportSummary
  ) {
    let (zone, bucket) = (form.zone, row.entry.bucket)
    if isJSON {
      bytes.append(contentsOf: (summary.rows == 0 ? "\n" : ",\n").utf8)
      bytes.append(contentsOf: #"{"start":"\#(zone.text(bucket.start))","end":"\#(zone.text(bucket.end))","#.utf8)
      bytes.append(contentsOf: #""date":"\#(zone.date(bucket.start))","partial":\#(row.entry.isPartial)"#.utf8)
      for (column, number) in zip(columns, row.numbers) where number != nil || form.fillsGaps {
        bytes.append(",")
        bytes.append(quoted: column.name)
        bytes.append(":")
        if let number { bytes.append(number: number) } else { bytes.append("null") }
      }
      bytes.append("}")
    } else {
      let times = [zone.text(bucket.start), zone.text(bucket.end), zone.date(bucket.start)]
      for text in [form.size.rawValue, zone.name] + times {
        SampleCSVWriter.append(text, to: &bytes)
        bytes.append(",")
      }
      bytes.append(contentsOf: "\(row.entry.isPartial)".utf8)
      for number in row.numbers {
        bytes.append(",")
        if let number { bytes.append(contentsOf: "\(number)".utf8) }
      }
      bytes.append(contentsOf: [0x0D, 0x0A])
    }
    summary.rows += 1
  }
}
