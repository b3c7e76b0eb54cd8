import Foundation

/// Finds the XML of the exports at a path.
enum ExportLocator {
  /// At least one, the one with the largest XML first.
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

  /// A zip file whose table of contents is of no use: its files are found one after the other.
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

  /// Whether a file may be the XML: any `.xml` but for what macOS adds to archives.
  private static func isCandidate(_ name: String) -> Bool {
    let parts = name.split(separator: "/")
    guard let last = parts.last, last.lowercased().hasSuffix(".xml") else { return false }
    return !last.hasPrefix("._") && !parts.contains("__MACOSX")
  }

  // MARK: Folders

  /// Deeper folders are not looked into.
  private static let maximumDepth = 32
  /// More folders than anyone unpacks an export into.
  private static let maximumFolders = 10_000

  /// The XML of exports in the folder or below. Symbolic links are not followed: what they lead to is either
  /// below the folder itself, or was not given to us.
  private static func inFolder(_ path: String) throws(ImportError) -> [AppleHealthExport] {
    var search = XMLSearch<String>()
    var folders = [(path: path, depth: 0)]
    var next = 0
    while next < folders.count {
      // What lies deeper would be passed over without a word, and another person's export be found.
      guard folders.count <= maximumFolders else { throw .tooManyFolders(path: path, limit: maximumFolders) }
      let folder = folders[next]
      next += 1
      let names: [String]
      do throws(ImportError) {
        names = try DirectoryListing.names(in: folder.path)
      } catch {
        // A folder beside the export may be closed to us without harm.
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

/// Looks for the XML of exports among files that may be one.
private struct XMLSearch<File> {
  /// More of them than this are not opened.
  private static var limit: Int { 1000 }

  var files: [(size: Int64, file: File)] = []
  /// In a folder.
  var zipFile: String?
  private var hasClinicalDocument = false
  /// What cannot be read and may be the XML of an export.
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

  /// Those that are one, the largest first. All are looked at, so that it can be said what else there is. None if what cannot be
  /// read is larger than all of them: that is the newest, perhaps, and an older one would take its place.
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

  /// Why there is none.
  func failure(_ path: String) -> ImportError {
    if let first = passedOver.max(by: { $0.size < $1.size }) { return first.error }
    if let zipFile { return .onlyZipFiles(path: path, first: zipFile) }
    return hasClinicalDocument ? .onlyClinicalDocument(path: path) : .exportXMLMissing(path: path)
  }
}
