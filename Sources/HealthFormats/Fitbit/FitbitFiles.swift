import Foundation
import HealthModel

/// The files of a Fitbit export in a folder and its subfolders, in a zip file, or in a folder of zip files, as
/// Takeout splits large exports.
struct FitbitFiles: Sendable {
  struct File: Sendable {
    /// The file name without folders.
    var name: String
    /// The path relative to the imported folder or zip file.
    var path: String
    /// The declared size of the file, uncompressed.
    var size: Int64
    var place: Place
  }

  enum Place: Sendable {
    /// - Parameter isGiven: whether the person named this file directly; it may then be a symbolic link.
    case file(path: String, isGiven: Bool)
    case zip(path: String, index: Int)
  }

  /// The files to read, in reading order.
  let families: [(family: FitbitFamily, file: File)]
  /// The number of files of each kind that is not read, keyed by name.
  private(set) var unread: [String: Int] = [:]

  /// A limit above the number of files of a lifetime.
  private static let maximumFiles = 500_000
  /// The maximum size of a file in bytes. A larger declared size is not plausible.
  private static let maximumSize: Int64 = 1 << 40
  /// The maximum number of files whose content is checked against their names.
  private static let mostLookedInto = 16
  private static let maximumDepth = 32
  private static let maximumFolders = 10_000

  /// Finds the files of an export, or returns `nil` if the candidate is not one.
  init?(of candidate: ImportCandidate) {
    var files: [File] = []
    var others = 0
    if let file = candidate.file {
      if ContentKind(file.head.bytes) == .zip {
        files = Self.inZip(candidate.path)
      } else if file.content.filePath != nil {
        let name = candidate.name
        files = [
          File(name: name, path: name, size: file.content.size, place: .file(path: candidate.path, isGiven: true))
        ]
      }
    } else {
      (files, others) = Self.inFolder(candidate.path)
    }
    var families = files.compactMap { file in
      FitbitFamily(fileName: file.name).map { (family: $0, file: file) }
    }
    let telling = families.filter { $0.family.isTelling }
    guard Self.areWhatTheyAreCalled(telling.map(\.file)) else { return nil }
    let root = Self.root(of: telling.map(\.file.path))
    families.removeAll { !$0.file.path.hasPrefix(root) }
    self.families = families.sorted {
      ($0.family.rawValue, $0.file.name, $0.file.path) < ($1.family.rawValue, $1.file.name, $1.file.path)
    }
    if others > 0 { unread["something else, as zip files"] = others }
    for file in files where file.path.hasPrefix(root) && FitbitFamily(fileName: file.name) == nil {
      if let name = Self.familyName(file.name) { unread[name, default: 0] += 1 }
    }
  }

  /// Returns whether one of the first files has Fitbit's content; other programs may use such names too.
  private static func areWhatTheyAreCalled(_ files: [File]) -> Bool {
    let content = FitbitContent([])
    return files.prefix(mostLookedInto).contains { file in
      let head = try? content.read(file) { source in try source.prefix(FileHead.size) }
      return head.map { isOne(FileHead($0)) } ?? false
    }
  }

  private static func isOne(_ head: FileHead) -> Bool {
    switch head.form {
    case .array(let elements, _):
      guard case .object(let first)? = elements.first else { return false }
      return first["dateTime"] != nil || first["logId"] != nil
    case .table(let columns): return ["timestamp", "sleep_id"].contains(columns.first ?? "")
    case .object, .other: return false
    }
  }

  /// Returns the common folder of the files with a trailing slash, or an empty string.
  private static func root(of paths: [String]) -> String {
    var common = paths[0].split(separator: "/").dropLast()
    // The profile and the files that are not read lie in folders beside the folder of numbers.
    if paths.allSatisfy({ $0.split(separator: "/").dropLast() == common }) { common = common.dropLast() }
    for path in paths {
      let folders = path.split(separator: "/").dropLast()
      common = common.prefix(zip(common, folders).prefix { $0 == $1 }.count)
    }
    return common.map { $0 + "/" }.joined()
  }

  /// Returns the kind of a file that is not read: `calories` for `calories-2025-11-01.json`, `Daily SpO2` for
  /// `Daily SpO2 - 2025-11-01-2025-11-30.csv`; `nil` for a file without numbers.
  private static func familyName(_ name: String) -> String? {
    guard name.hasSuffix(".json") || name.hasSuffix(".csv") else { return nil }
    if let end = name.range(of: " - ") { return String(name[..<end.lowerBound]) }
    var stem = name.prefix { $0 != "." }
    while let last = stem.last, last.isNumber || "-_ ()".contains(last) { stem.removeLast() }
    return stem.isEmpty ? nil : String(stem)
  }

  // MARK: Finding

  /// Returns the files in a zip file, or no files if it cannot be read. Another format reports the damage.
  private static func inZip(_ path: String) -> [File] {
    guard let archive = try? ZipArchive(path: path), let entries = try? archive.entries() else { return [] }
    return entries.prefix(maximumFiles).enumerated().compactMap { index, entry in
      let parts = entry.name.split(separator: "/")
      guard let name = parts.last, !entry.isEncrypted, 1...maximumSize ~= entry.size,
        name.hasSuffix(".json") || name.hasSuffix(".csv"), !name.hasPrefix("._"),
        !parts.contains("__MACOSX")
      else { return nil }
      return File(
        name: String(name), path: entry.name, size: entry.size, place: .zip(path: path, index: index))
    }
  }

  /// Returns the files in a folder and its subfolders, or else in its zip files. Symbolic links are not followed,
  /// because their targets were not given to us.
  ///
  /// - Returns: the files, and the number of zip files without any part of an export.
  private static func inFolder(_ path: String) -> (files: [File], others: Int) {
    var (files, zips): ([File], [String]) = ([], [])
    var folders = [(path: path, name: "", depth: 0)]
    var next = 0
    while next < min(folders.count, maximumFolders), files.count < maximumFiles {
      let folder = folders[next]
      next += 1
      // A folder that we may not read can be skipped.
      for name in ((try? DirectoryListing.names(in: folder.path)) ?? []).sorted() where !name.hasPrefix("._") {
        let file = "\(folder.path)/\(name)"
        switch DirectoryListing.kind(of: file) {
        case .folder where folder.depth < maximumDepth && name != "__MACOSX":
          folders.append((file, "\(folder.name)\(name)/", folder.depth + 1))
        case .file(let size) where name.hasSuffix(".zip") && size > 0: zips.append(file)
        case .file(let size) where 1...maximumSize ~= size:
          files.append(File(name: name, path: folder.name + name, size: size, place: .file(path: file, isGiven: false)))
        default: break
        }
      }
    }
    // Zip files beside unpacked files would be read twice. Beside an Apple Health export, they are not ours.
    if files.contains(where: { isTelling($0) || $0.name.lowercased().hasSuffix(".xml") }) { return (files, 0) }
    var (parts, others): ([File], Int) = ([], 0)
    for zip in zips where parts.count < maximumFiles {
      let part = inZip(zip)
      if part.contains(where: isTelling) { parts += part } else { others += 1 }
    }
    return (parts, others)
  }

  private static func isTelling(_ file: File) -> Bool {
    FitbitFamily(fileName: file.name)?.isTelling == true
  }
}

/// Opens the files of an export and keeps some zip files open. Not thread-safe.
final class FitbitContent {
  private static let mostOpen = 16

  private let families: [(family: FitbitFamily, file: FitbitFiles.File)]
  private var archives: [String: (archive: ZipArchive, entries: [ZipArchive.Entry])] = [:]

  init(_ files: FitbitFiles) { families = files.families }

  /// - Parameter families: the files, among which ``profile()`` finds the profile.
  init(_ families: [(family: FitbitFamily, file: FitbitFiles.File)]) { self.families = families }

  /// Opens a file and passes it to a closure.
  ///
  /// - Parameter body: a closure that reads from the file.
  func read<Result>(_ file: FitbitFiles.File, _ body: (any ByteSource) throws -> Result) throws -> Result {
    let source: any ByteSource
    switch file.place {
    case .file(let path, let isGiven):
      source = SizedSource(try FileSource(path: path, followsLinks: isGiven), path: path, size: file.size)
    case .zip(let path, let index):
      let (archive, entries) = try archive(path)
      guard entries.indices.contains(index) else { throw ImportError.changedWhileReading(path: path) }
      source = try archive.source(of: entries[index])
    }
    defer { source.close() }
    return try body(source)
  }

  private func archive(_ path: String) throws -> (ZipArchive, [ZipArchive.Entry]) {
    if let open = archives[path] { return open }
    if archives.count >= Self.mostOpen { archives = [:] }
    let archive = try ZipArchive(path: path)
    let opened = (archive, try archive.entries())
    archives[path] = opened
    return opened
  }

  /// Returns the row of `Profile.csv` by column name, or an empty dictionary if it is missing or unreadable.
  func profile() -> [String: String] {
    guard let file = families.first(where: { $0.family == .profile })?.file else { return [:] }
    let row = try? read(file) { source in
      var table = FitbitTable(source, path: file.name)
      return try table.next()
    }
    return (row ?? nil) ?? [:]
  }
}

/// The rows of a table, keyed by column name.
struct FitbitTable: ~Copyable {
  private var scanner: CSVScanner
  private var columns: [String]?

  init(_ source: any ByteSource, path: String) { scanner = CSVScanner(source: source, path: path) }

  /// Returns the next row, or `nil` at the end. A file that says in words that it has no data has no rows.
  mutating func next() throws -> [String: String]? {
    if columns == nil { columns = try scanner.row(limit: 64 << 10)?.fields.map(\.text) ?? [] }
    guard let columns, columns.count > 1, let row = try scanner.row(limit: 64 << 10) else { return nil }
    return Dictionary(zip(columns, row.fields.map(\.text)), uniquingKeysWith: { first, _ in first })
  }

  /// The approximate line of the row that was read last.
  var line: Int { scanner.position.line - 1 }
}
