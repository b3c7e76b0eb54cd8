import Foundation

/// A search for the XML of every export at a path.
enum ExportLocator {
  /// Returns the exports at `path`, at least one, the one with the largest XML first.
  static func locate(_ path: String) throws(ImportError) -> [AppleHealthExport] {
    var status = stat()
    guard stat(path, &status) == 0 else { throw ImportError(errno: errno, path: path) }
    switch status.st_mode & S_IFMT {
    case S_IFDIR: return try inFolder(path)
    case S_IFREG: break
    default: throw .notAnExport(path: path, looksLike: "something that is not a file")
    }
    let head = try head(of: path)
    switch ContentKind(head) {
    case .healthData:
      return [AppleHealthExport(origin: .file(path: path), totalBytes: Int64(status.st_size), location: path)]
    case .zip: return try inZip(path)
    case .other(let description): throw .notAnExport(path: path, looksLike: description)
    }
  }

  private static func head(of path: String) throws(ImportError) -> [UInt8] {
    let source = try FileSource(path: path)
    defer { source.close() }
    return try source.prefix(FileHead.size)
  }

  // MARK: Zip files

  private static func inZip(_ path: String) throws(ImportError) -> [AppleHealthExport] {
    let archive: ZipArchive
    let entries: [ZipArchive.Entry]
    do throws(ImportError) {
      archive = try ZipArchive(path: path)
      entries = try archive.entries()
    } catch {
      guard case .damagedZip = error else { throw error }
      return try inDamagedZip(path, error)
    }
    var search = XMLSearch<ZipArchive.Entry>()
    for entry in entries where isCandidate(entry.name) && entry.largeSize.likely > 0 {
      if entry.isEncrypted {
        search.passOver(entry.name, size: entry.largeSize.likely, .encryptedZip(path: path))
      } else {
        search.files.append((entry.largeSize.likely, entry))
      }
    }
    let found = search.exports(named: \.name) { entry throws(ImportError) in
      try archive.source(of: entry, size: entry.largeSize)
    }
    if found.isEmpty { throw search.failure(path) }
    return found.map { entry in
      AppleHealthExport(
        origin: .zip(path: path, index: entry.index), totalBytes: entry.largeSize.likely,
        location: "\(path): \(entry.name)",
        remarks: search.remarks, isOneOfSeveral: found.count > 1)
    }
  }

  /// Finds the exports in a zip file without a usable table of contents, by scanning its local file headers.
  private static func inDamagedZip(_ path: String, _ damage: ImportError) throws(ImportError) -> [AppleHealthExport] {
    let contents = try ZipSalvage.contents(of: path)
    var search = XMLSearch<ZipSalvage.Entry>()
    search.files = contents.entries.filter { isCandidate($0.name) }.map { ($0.size, $0) }
    let found = search.exports(named: \.name) { entry throws(ImportError) in
      if entry.state == .damaged { throw .damagedZip(path: path, detail: "CRC error", someKept: false) }
      return try ZipSalvage.source(of: entry, path: path)
    }
    if found.isEmpty {
      if search.isPassedOver { throw search.failure(path) }
      if contents.hasEncrypted { throw .encryptedZip(path: path) }
      if let method = contents.unsupported { throw .unsupportedCompression(path: path, method: method.name) }
      throw damage
    }
    return found.map { entry in
      AppleHealthExport(
        origin: .salvaged(path: path, entry: entry, isCutOff: !contents.hasTable), totalBytes: entry.size,
        location: "\(path): \(entry.name)",
        remarks: search.remarks
          + (contents.hasTable ? [] : ["zip file that ends in the middle: only what is whole was read"]),
        isOneOfSeveral: found.count > 1)
    }
  }

  /// Returns whether a file may be the XML of an export: any `.xml` file except those that macOS adds to archives.
  private static func isCandidate(_ name: String) -> Bool {
    let parts = name.split(separator: "/")
    guard let last = parts.last, last.lowercased().hasSuffix(".xml") else { return false }
    return !last.hasPrefix("._") && !parts.contains("__MACOSX")
  }

  // MARK: Folders

  /// The maximum depth of the search. Deeper folders are ignored.
  private static let maximumDepth = 32
  /// The maximum number of folders to search, far more than an unpacked export has.
  private static let maximumFolders = 10_000

  /// Finds the exports in the folder and below. Symbolic links are not followed, because their targets are either
  /// below the folder anyway or outside what the person gave.
  private static func inFolder(_ path: String) throws(ImportError) -> [AppleHealthExport] {
    var search = XMLSearch<String>()
    var folders = [(path: path, depth: 0)]
    var next = 0
    while next < folders.count {
      // Stopping silently at the limit could miss the person's own export and find another person's.
      guard folders.count <= maximumFolders else { throw .tooManyFolders(path: path, limit: maximumFolders) }
      let folder = folders[next]
      next += 1
      let names: [String]
      do throws(ImportError) {
        names = try DirectoryListing.names(in: folder.path)
      } catch {
        // An unreadable folder beside the export does no harm.
        if folder.depth == 0 { throw error }
        continue
      }
      for name in names.sorted() where name != "__MACOSX" {
        let file = "\(folder.path)/\(name)"
        switch DirectoryListing.kind(of: file) {
        case .folder where folder.depth < maximumDepth: folders.append((file, folder.depth + 1))
        case .file(let size) where size > 0 && isCandidate(name): search.files.append((size, file))
        case .file where name.lowercased().hasSuffix(".zip"): search.zipFile = search.zipFile ?? file
        default: break
        }
      }
    }
    let found = search.exports(named: \.self) { file throws(ImportError) in
      try FileSource(path: file, followsLinks: false)
    }
    var exports: [AppleHealthExport] = []
    for file in found {
      guard case .file(let size) = DirectoryListing.kind(of: file) else { throw .changedWhileReading(path: file) }
      exports.append(
        AppleHealthExport(
          origin: .file(path: file), totalBytes: size, location: file, remarks: search.remarks,
          isOneOfSeveral: found.count > 1))
    }
    if exports.isEmpty { throw search.failure(path) }
    return exports
  }
}

/// A search for the XML of exports among candidate files.
private struct XMLSearch<File> {
  /// The maximum number of files to open.
  private static var limit: Int { 1000 }

  var files: [(size: Int64, file: File)] = []
  /// The first zip file found in the folder.
  var zipFile: String?
  private var hasClinicalDocument = false
  /// The unreadable files that may be the XML of an export.
  private var passedOver: [(name: String, size: Int64, error: ImportError)] = []

  init() {}

  var remarks: [String] {
    let clinical =
      hasClinicalDocument ? ["export_cda.xml: shows the same data once more, and is not read"] : []
    return clinical
      + passedOver.map { "\($0.name): may be another export, but it can't be read (\(SideFiles.reason($0.error)))" }
  }

  /// Whether something that may be an export cannot be read.
  var isPassedOver: Bool { !passedOver.isEmpty }

  mutating func passOver(_ name: String, size: Int64, _ error: ImportError) {
    // The clinical document says nothing that the export does not.
    if name.lowercased().hasSuffix("_cda.xml") { return }
    passedOver.append((name, size, error))
  }

  /// Returns the files that are exports, the largest first. All files are examined, so that an error can say what else
  /// there is.
  ///
  /// Returns none if an unreadable file is larger than all of them: it may be the newest export, and an older one must
  /// not take its place.
  mutating func exports(
    named name: (File) -> String, open: (File) throws(ImportError) -> any ByteSource
  ) -> [File] {
    var exports: [(size: Int64, file: File)] = []
    for (size, file) in files.sorted(by: { $0.size > $1.size }).prefix(Self.limit) {
      do throws(ImportError) {
        let source = try open(file)
        defer { source.close() }
        let kind = ContentKind(try source.prefix(FileHead.size))
        if kind == .healthData { exports.append((size, file)) }
        if kind == .clinicalDocument { hasClinicalDocument = true }
      } catch {
        passOver(name(file), size: size, error)
      }
    }
    let largest = exports.first?.size ?? 0
    return passedOver.contains { $0.size > largest } ? [] : exports.map(\.file)
  }

  /// Returns the error for a search that found no export.
  func failure(_ path: String) -> ImportError {
    if let first = passedOver.max(by: { $0.size < $1.size }) { return first.error }
    if let zipFile { return .onlyZipFiles(path: path, first: zipFile) }
    return hasClinicalDocument ? .onlyClinicalDocument(path: path) : .exportXMLMissing(path: path)
  }
}
