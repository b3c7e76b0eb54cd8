/// The benchmarks of exports to files.
enum ExportRow: String, BenchRow {
  case formats

  var title: String {
    switch self {
    case .formats: "every format, beside a plain write of the same bytes"
    }
  }

  func measure(_ bench: Bench) async throws -> Row {
    switch self {
    case .formats: try await ExportFormats(bench).measure()
    }
  }
}
