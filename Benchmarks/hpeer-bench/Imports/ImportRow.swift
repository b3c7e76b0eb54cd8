/// The benchmarks of imports.
enum ImportRow: String, BenchRow {
  case first, again, later, large, kill, own, importers

  var title: String {
    switch self {
    case .first: "first import from a zip file, and a bare insert of the same rows"
    case .again: "the same export again"
    case .later: "a later export of the same person"
    case .large: "ten times as many records, and peak memory"
    case .kill: "killed in the middle, then again"
    case .own: "hpeer's own JSON and CSV, and the XML of the same samples"
    case .importers: "what people use today, on the same file"
    }
  }

  func measure(_ bench: Bench) async throws -> Row {
    switch self {
    case .first: try await FirstImport(bench).measure()
    case .again: try await SameImport(bench).measure()
    case .later: try await LaterImport(bench).measure()
    case .large: try await LargeImport(bench).measure()
    case .kill: try await KilledImport(bench).measure()
    case .own: try await OwnFiles(bench).measure()
    case .importers: try await OtherImporters(bench).measure()
    }
  }
}
