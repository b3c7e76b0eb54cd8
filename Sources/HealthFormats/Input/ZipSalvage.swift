import Foundation

/// A reader of zip files without a usable table of contents: those that are truncated, or have offsets beyond 4 GiB
/// in 32 bits. It finds the files one after the other, by their local headers (APPNOTE.TXT 4.3.7).
enum ZipSalvage {
  struct Entry: Sendable, Equatable {
    /// The name in the archive, with invalid UTF-8 replaced.
    var name: String
    /// The offset of the content in the archive. ``storedSize`` is its length there.
    var start: Int64
    var storedSize: Int64
    var isDeflated: Bool
    /// The uncompressed size in bytes.
    var size: Int64
    var state: State
    /// Whether the content is complete and its checksum is right.
    var isWhole: Bool { state == .whole }
  }

  /// The condition of the content of a file.
  enum State: Sendable {
    case whole
    /// The archive ends in it.
    case cutOff
    /// Content that the archive does not describe: invalid compressed data, or another checksum.
    case damaged
  }

  struct Contents {
    var entries: [Entry] = []
    var hasEncrypted = false
    /// Whether the whole table of contents follows the last file, so that nothing is missing.
    var hasTable = false
    /// The compression method of the first file with an unsupported one. The search ends there.
    var unsupported: ZipMethod?
  }

  /// The maximum number of files, far more than any export has.
  private static let maximumEntries = 1 << 20

  /// Finds the files of the archive at `path`, up to the first incomplete one. Inflates each file once.
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
        // Without a size, the position of the next header is unknown.
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
    // Leave out folders, which have no content.
    contents.entries = ZipArchive.withSlashes(contents.entries, \.name).filter { !$0.name.hasSuffix("/") }
    contents.hasTable = try CentralDirectory(path: path, at: position, fileSize: Int64(status.st_size))?.count == count
    return contents
  }

  /// Opens a file. If the archive is truncated, the file ends where the archive does.
  static func source(of entry: Entry, path: String) throws(ImportError) -> any ByteSource {
    let range = try FileRange(path: path, from: entry.start, count: entry.storedSize)
    let source: any ByteSource = entry.isDeflated ? OpenEndedSource(range, path: path) : range
    return SizedSource(source, path: path, size: entry.size)
  }

  /// Reads the content once to find its end and whether it is complete. Returns `nil` for content that cannot be
  /// read.
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
  /// Returns the offset of the end of the content, which is at most the size of the archive.
  fileprivate func end(storedSize: Int64, fileSize: Int64) -> Int64 {
    content + min(storedSize, max(0, fileSize - content))
  }
}

/// The complete files beside the XML of an export in a truncated zip file.
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
