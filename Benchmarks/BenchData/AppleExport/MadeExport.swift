import Foundation

/// A made-up Apple Health export of any size: the same file from the same numbers.
///
///     try MadeExport(records: 1_000_000).write(to: "export.zip")
///
/// What it holds follows real exports: the samples of ``HealthHistory`` as Apple prints them (version 14 of the
/// document type), one run for each type, some types ascending and some descending, another device address in each
/// row, beats, workouts with events, activities, statistics and routes, correlations whose members are at the top level
/// too. Nothing is held but some thousand samples.
public struct MadeExport: Sendable {
  /// How an export differs from the person's first.
  public enum Change: String, Sendable, CaseIterable {
    /// One per cent of the records is new.
    case new
    /// The phone was at another offset from UTC.
    case offset
    /// Miles and pounds instead of kilometres and kilograms.
    case units
    /// The watch has another name, on its old records too.
    case renamed
    /// Types come in another order, and the samples of each the other way round.
    case reordered
    /// One per cent of the old records is gone.
    case deleted
  }

  /// Another number whenever the same arguments give another file.
  public static let edition = 1

  /// About how many `Record` elements at the top level.
  public var records: Int
  public var seed: UInt64
  /// `nil` for the first export; else one made 30 days later, which differs in this.
  public var changes: Set<Change>?
  /// Prints a record twice now and then, as phones do.
  public var hasTwins = false
  /// Has defects now and then that an importer must get over.
  public var hasDefects = false

  public init(records: Int, seed: UInt64 = 1, changes: Set<Change>? = nil) {
    self.records = records
    self.seed = seed
    self.changes = changes
  }

  /// What was written.
  public struct Summary: Sendable {
    /// `Record` elements at the top level.
    public var records = 0
    /// Of the XML.
    public var bytes: Int64 = 0
  }

  /// Writes the export: the XML alone when the name ends in `.xml`, else a zip file (deflate, level 6) with routes and
  /// electrocardiograms beside it.
  public func write(to path: String) throws -> Summary {
    let xml = ExportXML(self)
    if path.hasSuffix(".xml") {
      try FileText.write(to: path) { xml.next() }
    } else {
      let archive = try ZipWriter(path: path)
      try archive.add("apple_health_export/export.xml") { xml.next() }
      for file in SideFile.all(of: self) { try archive.add("apple_health_export/\(file.path)") { file.next() } }
      try archive.close()
    }
    return xml.summary
  }

  // MARK: Time

  func has(_ change: Change) -> Bool { changes?.contains(change) ?? false }

  /// When the phone made it, in seconds since 1970.
  var made: Int64 { HealthHistory.begin + HealthHistory.span + 36_000 + (changes == nil ? 0 : 30 * 86_400) }

  /// The phone's offset from UTC, in which it prints all dates.
  var offset: Int64 { has(.offset) ? 3600 : 7200 }

  /// All samples of a kind, whole and in order, and how many of them the first export has.
  func series(_ index: Int) -> (series: Series, first: Int) {
    let kind = SeriesKind.all[index]
    let first = kind.count(of: records)
    let all = first + max(1, first / 100)
    let series = Series(
      kind, count: all, identity: .random, live: .max, isExact: true,
      random: .init(seed: seed &* 1_000_003 &+ UInt64(index)))
    return (series, first)
  }
}

/// A file that is written piece by piece.
enum FileText {
  /// - Parameter next: the next piece; empty at the end.
  static func write(to path: String, _ next: () -> [UInt8]) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw MadeExportError(path: path) }
    defer { close(file) }
    var piece = next()
    while !piece.isEmpty {
      var written = 0
      while written < piece.count {
        let count = piece.withUnsafeBytes { bytes in
          Foundation.write(file, bytes.baseAddress.map { $0 + written }, bytes.count - written)
        }
        guard count > 0 else { throw MadeExportError(path: path) }
        written += count
      }
      piece = next()
    }
  }
}

/// A file that cannot be written. One sentence for a person.
struct MadeExportError: Error, CustomStringConvertible {
  let description: String

  init(path: String, reason: String = String(cString: strerror(errno))) {
    description = "\(path) cannot be written: \(reason)."
  }
}
