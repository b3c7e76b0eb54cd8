import Foundation

/// Finds the XML of an export at a path.
enum ExportLocator {
  /// How much of a file is looked at to tell what it is.
  static let sniffSize = 64 << 10

  static func locate(_ path: String) throws(ImportError) -> AppleHealthExport {
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
      return AppleHealthExport(origin: .file(path: path), totalBytes: Int64(status.st_size), location: path)
    case .zip: return try inZip(path)
    case .other(let description): throw .notAnExport(path: path, looksLike: description)
    }
  }

  private static func head(of path: String) throws(ImportError) -> [UInt8] {
    let source = try FileSource(path: path)
    defer { source.close() }
    return try source.prefix(sniffSize)
  }

  // MARK: Zip files

  private static func inZip(_ path: String) throws(ImportError) -> AppleHealthExport {
    let archive = try ZipArchive(path: path)
    let candidates = try archive.entries().filter { isCandidate($0.name) && $0.size > 0 }
    let open = candidates.filter { !$0.isEncrypted }.sorted { $0.size > $1.size }
    var damage: ImportError?
    for entry in open {
      let head: [UInt8]
      do throws(ImportError) {
        let source = try archive.source(of: entry)
        defer { source.close() }
        head = try source.prefix(sniffSize)
      } catch {
        damage = error
        continue
      }
      if case .healthData = ContentKind(head) {
        return AppleHealthExport(
          origin: .zip(path: path, index: entry.index), totalBytes: entry.size, location: "\(path): \(entry.name)")
      }
    }
    if let damage { throw damage }
    if candidates.contains(where: \.isEncrypted) { throw .encryptedZip(path: path) }
    throw .exportXMLMissing(path: path)
  }

  /// Whether a file may be the XML: any `.xml` but for what macOS adds to archives.
  private static func isCandidate(_ name: String) -> Bool {
    let parts = name.split(separator: "/")
    guard let last = parts.last, last.lowercased().hasSuffix(".xml") else { return false }
    return !last.hasPrefix("._") && !parts.contains("__MACOSX")
  }

  // MARK: Folders

  /// The largest XML of an export in the folder or in a folder in it.
  private static func inFolder(_ path: String) throws(ImportError) -> AppleHealthExport {
    var best: AppleHealthExport?
    var folders = [path]
    for name in try DirectoryListing.names(in: path).sorted() where isFolder("\(path)/\(name)") {
      folders.append("\(path)/\(name)")
    }
    for folder in folders {
      let names: [String]
      do throws(ImportError) {
        names = try DirectoryListing.names(in: folder)
      } catch {
        // A folder beside the export may be closed to us without harm.
        continue
      }
      for name in names.sorted() where isCandidate(name) {
        let file = "\(folder)/\(name)"
        var status = stat()
        guard stat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
        let size = Int64(status.st_size)
        if size <= best?.totalBytes ?? 0 { continue }
        if case .healthData = ContentKind(try head(of: file)) {
          best = AppleHealthExport(origin: .file(path: file), totalBytes: size, location: file)
        }
      }
    }
    guard let best else { throw .exportXMLMissing(path: path) }
    return best
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }
}
