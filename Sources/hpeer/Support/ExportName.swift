import ArgumentParser
import HealthFormats
import HealthOperations
import Terminal

/// What the name of a file says of its format.
struct ExportName {
  /// Ends of names that are of no format that is written, and what to choose instead.
  private static let foreign = [
    "xlsx": csv, "xls": csv, "ods": csv, "numbers": csv, "tsv": csv, "pdf": page, "html": page, "htm": page,
    "parquet": columns,
  ]
  private static let csv = "spreadsheets open --format csv"
  private static let page = "`hpeer report` writes a page to read and print"
  private static let columns = "DuckDB and pandas read --format csv"

  /// In lower case, without the dot and without the suffix of a compression.
  private let suffix: String

  init(_ path: String) {
    var name = String(path.split(separator: "/").last ?? "").lowercased()
    if let compression = FileCompression(suffixOf: name) { name.removeLast(compression.rawValue.count + 1) }
    suffix = name.lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? ""
  }

  /// What a file of that name is, where it says so.
  var format: ExportFormat? { ExportFormat(suffix: suffix) }

  /// What a report of that name is, where it says so.
  var report: ReportOperation.Format? {
    switch suffix {
    case "html", "htm": .html
    case "pdf": .pdf
    default: nil
    }
  }

  /// Throws `ValidationError` where the name says that the file is something else than what it would be.
  ///
  /// - Parameter isNamed: whether the format was asked for by its own name.
  func require(_ format: ExportFormat, isNamed: Bool) throws {
    if !isNamed, let instead = Self.foreign[suffix] {
      throw ValidationError("No format is called .\(suffix): \(instead).")
    }
    guard let named = self.format, named.suffix != format.suffix else { return }
    if format == .appleXML, named == .appleArchive { return }
    throw ValidationError(
      "A file that ends in .\(suffix) would not be \(format.rawValue): name it .\(format.suffix), or choose --format \(named.rawValue)."
    )
  }
}
