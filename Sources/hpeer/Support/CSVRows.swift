import HealthFormats
import Terminal

/// A table for spreadsheets (RFC 4180): a header, and rows that end with CR and LF.
struct CSVRows {
  private(set) var bytes: [UInt8] = []
  private let columns: Int?

  init(columns: [String]) {
    self.columns = columns.count
    append(columns)
  }

  /// Rows of a table whose header is elsewhere.
  init() { columns = nil }

  /// - Parameter fields: one for each column, escaped here; `nil` for an empty one.
  mutating func append(_ fields: [String?]) {
    for index in 0..<(columns ?? fields.count) {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      guard index < fields.count, let field = fields[index] else { continue }
      SampleCSVWriter.append(PlainText.escaped(field, limit: 1_000), to: &bytes)
    }
    bytes.append(contentsOf: [0x0D, 0x0A])
  }
}
