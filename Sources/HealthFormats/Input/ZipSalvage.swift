import Foundation

/// What can be had of a zip file without a table of contents, since it was cut off, or with one of offsets beyond 4 GiB in 32
/// bits: its files one after the other, by their local headers (APPNOTE.TXT 4.3.7).
enum ZipSalvage {
  struct Entry: Sendable, Equatable {
    /// As the archive has it, invalid UTF-8 repaired.
    var name: String
    /// Where the content begins, and its length in the archive.
    var start: Int64
    var storedSize: Int64
    var isDeflated: Bool
    /// The uncompressed size in bytes.
    var size: Int64
    var state: State
    /// Whether all of it is there, and its checksum right.
    var isWhole: Bool { state == .whole }
  }

  /// What is known of the content of a file.
  enum State: Sendable {
    case whole
    /// The archive ends in it.
    case cutOff
    /// It is not what the archive says: compressed data that makes no sense, or another checksum.
    case damaged
  }

  struct Contents {
    var entries: [Entry] = []
    var hasEncrypted = false
    /// Whether the table of contents comes after the last of them, whole: nothing was cut off.
    var hasTable = false
    /// Of the first file that is compressed in a way that is not supported, behind which nothing is looked for.
    var unsupported: ZipMethod?
  }

  /// Maximum files of an archive: more than any export has.
  private static let maximumEntries = 1 << 20

  /// Finds the files of the archive at `path`, up to the first that is not whole. Inflates each once.
  static func contents(of path: String) throws(ImportError) -> Contents {
    var status = stat()
    guard stat(path, &status) == 0 else { throw ImportError(errno: errno, path: path) }
    var contents = Contents()
    var (position, count): (Int64, Int) = (0, 0)
    while contents.entries.count < maximumEntries,
      let header = try LocalHeader(path: path, at: position, fileSize: Int64(status.st_size))
    {
      count += 1
      if header.isEncrypted {
        contents.hasEncrypted = true
        // Without a size there is no telling where the next begins.
        guard let size = header.storedSize else { break }
        position = header.end(storedSize: size, fileSize: Int64(status.st_size))
        continue
      }
      guard header.method == .stored || header.method == .deflated else {
        contents.unsupported = header.method
        break
      }
      guard let (entry, next) = try measure(header, path: path, fileSize: Int64(status.st_size)) else { break }
      contents.entries.append(entry)
      // Where a damaged file ends is known all the same.
      guard entry.state != .cutOff, let next else { break }
      position = next
    }
    // Folders have no content.
    contents.entries = ZipArchive.withSlashes(contents.entries, \.name).filter { !$0.name.hasSuffix("/") }
    contents.hasTable = try CentralDirectory(path: path, at: position, fileSize: Int64(status.st_size))?.count == count
    return contents
  }

  /// Opens a file. Where the archive is cut off, the file ends.
  static func source(of entry: Entry, path: String) throws(ImportError) -> any ByteSource {
    let range = try FileRange(path: path, from: entry.start, count: entry.storedSize)
    let source: any ByteSource = entry.isDeflated ? OpenEndedSource(range, path: path) : range
    return SizedSource(source, path: path, size: entry.size)
  }

  /// Reads the content once, to learn where it ends and whether it is whole; `nil` for what cannot be read.
  ///
  /// - Returns: the file, and where the next begins, if that can be told.
  private static func measure(
    _ header: LocalHeader, path: String, fileSize: Int64
  ) throws(ImportError) -> (Entry, next: Int64?)? {
    let rest = fileSize - header.content
    let isStored = header.method == .stored
    if isStored, header.storedSize == nil { return nil }
    let range = try FileRange(path: path, from: header.content, count: min(rest, header.storedSize ?? rest))
    let source = OpenEndedSource(range, path: path, isDeflated: !isStored)
    let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: 256 << 10)
    defer { buffer.deallocate() }
    var size: Int64 = 0
    var isDamaged = false
    while true {
      let count: Int
      do throws(ImportError) {
        count = try source.read(into: buffer, count: 256 << 10)
      } catch {
        guard case .damagedZip = error else { throw error }
        isDamaged = true
        break
      }
      if count == 0 { break }
      size += Int64(count)
      if header.size?.allows(size) == false {
        throw .damagedZip(path: path, detail: "a file in it is larger than it declares", someKept: false)
      }
    }
    var entry = Entry(
      name: header.name, start: header.content, storedSize: source.used, isDeflated: !isStored, size: size,
      state: .cutOff)
    if isDamaged {
      entry.state = .damaged
      // Without a size there is no telling where the next begins.
      return (entry, header.storedSize.map { header.end(storedSize: $0, fileSize: fileSize) })
    }
    let end = header.content + source.used
    if header.hasDescriptor {
      guard source.isFinished,
        let descriptor = try DataDescriptor(path: path, at: end, storedSize: source.used, size: size)
      else { return (entry, end) }
      entry.state = descriptor.checksum == source.checksum ? .whole : .damaged
      return (entry, descriptor.end)
    }
    if isStored ? source.used == header.storedSize : source.isFinished {
      let isWhole = source.checksum == header.checksum && header.size?.isThat(size) == true
      entry.state = isWhole ? .whole : .damaged
    }
    return (entry, header.end(storedSize: header.storedSize ?? source.used, fileSize: fileSize))
  }
}

extension LocalHeader {
  /// Where the content ends. One that is said to reach beyond the file ends with it.
  fileprivate func end(storedSize: Int64, fileSize: Int64) -> Int64 {
    content + min(storedSize, max(0, fileSize - content))
  }
}

/// The files beside the XML in a zip file that was cut off: those that are whole.
final class SalvagedFolder: ExportFolder {
  private let path: String
  private let entries: [ZipSalvage.Entry]
  let members: [ExportMember]

  init(path: String, beside xml: ZipSalvage.Entry) throws(ImportError) {
    self.path = path
    entries = try ZipSalvage.contents(of: path).entries
    members = ZipFolder.members(
      beside: xml.name,
      among: entries.enumerated().compactMap { index, entry in
        entry.isWhole && entry.start != xml.start ? (entry.name, entry.size, index) : nil
      })
  }

  func source(of member: ExportMember) throws(ImportError) -> any ByteSource {
    guard entries.indices.contains(member.index) else { throw .noSuchFile(path: "\(path): \(member.name)") }
    return try ZipSalvage.source(of: entries[member.index], path: path)
  }
}
