import Foundation

/// A synthetic Apple Health export of any size, the same file for the same parameters.
///
///     try MadeExport(records: 1_000_000).write(to: "export.zip")
///
/// The content is modelled on real exports: the samples of ``HealthHistory`` as Apple prints them (version 14 of the
/// document type), a run for each type, some types ascending and some descending, a different device address in each
/// row, heartbeats, workouts with events, activities, statistics and routes, and correlations whose members also
/// appear at the top level. Only a few thousand samples are in memory at a time.
public struct MadeExport: Sendable {
  /// A difference between a later export and the person's first.
  public enum Change: String, Sendable, CaseIterable {
    /// An addition of one per cent new records.
    case new
    /// A different UTC offset of the phone.
    case offset
    /// Miles and pounds instead of kilometres and kilograms.
    case units
    /// A new name of the watch, even in its old records.
    case renamed
    /// A different order of the types, and the reverse order of each type's samples.
    case reordered
    /// A removal of one per cent of the old records.
    case deleted
  }

  /// The version of the generator, raised whenever the same parameters give a different file.
  public static let edition = 2

  /// The approximate number of `Record` elements at the top level.
  public var records: Int
  public var seed: UInt64
  /// The differences from the first export in an export made 30 days later, or `nil` for the first export.
  public var changes: Set<Change>?
  /// Whether some records are printed twice, as phones do.
  public var hasTwins = false
  /// Whether some records have defects that an importer must tolerate.
  public var hasDefects = false

  public init(records: Int, seed: UInt64 = 1, changes: Set<Change>? = nil) {
    self.records = records
    self.seed = seed
    self.changes = changes
  }

  /// The size of a written export.
  public struct Summary: Sendable {
    /// The number of `Record` elements at the top level.
    public var records = 0
    /// The size of the XML in bytes.
    public var bytes: Int64 = 0
  }

  /// Writes the export: only the XML if the name ends in `.xml`, else a zip file (deflate, level 6) that also has
  /// routes and electrocardiograms.
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

  /// The time at which the phone made the export, in seconds since 1970.
  var made: Int64 { HealthHistory.begin + HealthHistory.span + 36_000 + (changes == nil ? 0 : 30 * 86_400) }

  /// The phone's offset from UTC in seconds, used for all dates.
  var offset: Int64 { has(.offset) ? 3600 : 7200 }

  /// Returns the complete series of a kind, and the number of its samples that the first export has.
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

/// A writer of a file piece by piece.
enum FileText {
  /// - Parameter next: A closure that returns the next piece, which is empty at the end.
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

/// An error for a file that can't be written, described in a sentence.
struct MadeExportError: Error, CustomStringConvertible {
  let description: String

  init(path: String, reason: String = String(cString: strerror(errno))) {
    description = "\(path) cannot be written: \(reason)."
  }
}
