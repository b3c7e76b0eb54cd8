import CISAL
import HealthModel

/// A writer of zip archives (APPNOTE.TXT 6.3.10) that writes from front to back, so that the output need not be
/// seekable. Files are deflated as they come, and their sizes follow the content. Only the table of contents is kept
/// in memory.
package struct ZipWriter: ~Copyable {
  private struct Entry {
    var name: [UInt8]
    var offset: UInt64
    var checksum: UInt32 = 0
    var storedSize: UInt64 = 0
    var size: UInt64 = 0
    /// Whether the data descriptor has sizes of 64 bits.
    var isLarge: Bool
  }

  private let time: (date: UInt64, time: UInt64)
  private var entries: [Entry] = []
  private var deflater: Deflater?
  private var position: UInt64 = 0

  /// Creates a writer.
  ///
  /// - Parameter modified: the modification time of all files, written in UTC.
  package init(modified: Timestamp) {
    let civil = modified.civil
    guard (1980...2107).contains(civil.year) else {
      time = (1 << 5 | 1, 0)
      return
    }
    time = (
      UInt64((civil.year - 1980) << 9 | civil.month << 5 | civil.day),
      UInt64(civil.hour << 11 | civil.minute << 5 | min(civil.second, 59) / 2)
    )
  }

  /// Begins a file and returns its header.
  ///
  /// - Parameters:
  ///   - name: a unique name of at most 65,535 bytes, with `/` between its parts.
  ///   - mayBeLarge: whether the file may have 4 GiB or more. Programs that read the archive as a stream need to know
  ///     this.
  package mutating func begin(_ name: String, mayBeLarge: Bool = false) -> [UInt8] {
    let entry = Entry(name: Array(name.utf8.prefix(0xFFFF)), offset: position, isLarge: mayBeLarge)
    entries.append(entry)
    deflater = Deflater(as: .none)
    var bytes = LittleEndianBytes()
    bytes.append(0x0403_4B50, 4)
    appendCommon(entry, to: &bytes)
    // Checksum and sizes follow the content.
    for _ in 0..<3 { bytes.append(0, 4) }
    bytes.append(UInt64(entry.name.count), 2)
    bytes.append(entry.isLarge ? 20 : 0, 2)
    bytes.bytes += entry.name
    if entry.isLarge {
      bytes.append(1, 2)
      bytes.append(16, 2)
      for _ in 0..<2 { bytes.append(0, 8) }
    }
    return counted(bytes.bytes)
  }

  /// Appends content to the current file. Returns the bytes to write.
  package mutating func append(_ bytes: [UInt8]) -> [UInt8] {
    guard let deflater else { return [] }
    let index = entries.count - 1
    entries[index].size += UInt64(bytes.count)
    bytes.withUnsafeBufferPointer { content in
      guard let base = content.baseAddress else { return }
      entries[index].checksum = crc32_gzip_refl(entries[index].checksum, base, UInt64(content.count))
    }
    return counted(deflater.deflate(bytes))
  }

  /// Ends the current file. Returns the bytes to write.
  package mutating func endFile() -> [UInt8] {
    guard let deflater = deflater.take() else { return [] }
    let data = counted(deflater.finish())
    let entry = entries[entries.count - 1]
    entries[entries.count - 1].storedSize =
      position - entry.offset - UInt64(30 + entry.name.count)
      - (entry.isLarge ? 20 : 0)
    var bytes = LittleEndianBytes()
    bytes.append(0x0807_4B50, 4)
    bytes.append(UInt64(entry.checksum), 4)
    bytes.append(entries[entries.count - 1].storedSize, entry.isLarge ? 8 : 4)
    bytes.append(entry.size, entry.isLarge ? 8 : 4)
    return data + counted(bytes.bytes)
  }

  /// Returns the table of contents. Call this once, after the last file.
  package mutating func finish() -> [UInt8] {
    let start = position
    var bytes = LittleEndianBytes()
    for entry in entries { appendDirectory(entry, to: &bytes) }
    let size = UInt64(bytes.bytes.count)
    let count = UInt64(entries.count)
    if count >= 0xFFFF || start >= 0xFFFF_FFFF || size >= 0xFFFF_FFFF {
      let end = start + size
      bytes.append(0x0606_4B50, 4)
      bytes.append(44, 8)
      bytes.append(UInt64(Self.unix | 45), 2)
      bytes.append(45, 2)
      for _ in 0..<2 { bytes.append(0, 4) }
      for number in [count, count, size, start] { bytes.append(number, 8) }
      bytes.append(0x0706_4B50, 4)
      bytes.append(0, 4)
      bytes.append(end, 8)
      bytes.append(1, 4)
    }
    bytes.append(0x0605_4B50, 4)
    for _ in 0..<2 { bytes.append(0, 2) }
    for _ in 0..<2 { bytes.append(min(count, 0xFFFF), 2) }
    bytes.append(min(size, 0xFFFF_FFFF), 4)
    bytes.append(min(start, 0xFFFF_FFFF), 4)
    bytes.append(0, 2)
    return counted(bytes.bytes)
  }

  /// The system whose file modes are used (Unix), in the upper byte.
  private static let unix = 3 << 8

  /// Appends version, flags (the sizes follow the content; names are UTF-8), method, and time.
  private func appendCommon(_ entry: Entry, to bytes: inout LittleEndianBytes) {
    bytes.append(entry.isLarge ? 45 : 20, 2)
    bytes.append(0x0808, 2)
    bytes.append(8, 2)
    bytes.append(time.time, 2)
    bytes.append(time.date, 2)
  }

  private func appendDirectory(_ entry: Entry, to bytes: inout LittleEndianBytes) {
    // Numbers that do not fit into 32 bits go into an extra field, in this order (4.5.3).
    let numbers = [entry.size, entry.storedSize, entry.offset]
    let large = numbers.filter { $0 >= 0xFFFF_FFFF }
    let fields = numbers.map { min($0, 0xFFFF_FFFF) }
    bytes.append(0x0201_4B50, 4)
    bytes.append(UInt64(Self.unix | (large.isEmpty && !entry.isLarge ? 20 : 45)), 2)
    appendCommon(entry, to: &bytes)
    bytes.append(UInt64(entry.checksum), 4)
    bytes.append(fields[1], 4)
    bytes.append(fields[0], 4)
    bytes.append(UInt64(entry.name.count), 2)
    bytes.append(large.isEmpty ? 0 : UInt64(4 + 8 * large.count), 2)
    // No comment, the first disk, and no text flag.
    for _ in 0..<3 { bytes.append(0, 2) }
    // Only the owner may read and write the file.
    bytes.append(0o100_600 << 16, 4)
    bytes.append(fields[2], 4)
    bytes.bytes += entry.name
    if !large.isEmpty {
      bytes.append(1, 2)
      bytes.append(UInt64(8 * large.count), 2)
      for number in large { bytes.append(number, 8) }
    }
  }

  private mutating func counted(_ bytes: [UInt8]) -> [UInt8] {
    position += UInt64(bytes.count)
    return bytes
  }
}

/// An array of bytes to which integers are appended, the lowest byte first.
private struct LittleEndianBytes {
  var bytes: [UInt8] = []

  mutating func append(_ number: UInt64, _ count: Int) {
    for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(index)))) }
  }
}
