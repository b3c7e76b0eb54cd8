import Foundation

/// A local file header (APPNOTE.TXT 4.3.7).
struct LocalHeader {
  var name: String
  /// The offset of the content in the archive, in bytes.
  var content: Int64
  var isEncrypted: Bool
  /// Whether checksum and sizes follow the content.
  var hasDescriptor: Bool
  var method: ZipMethod
  var checksum: UInt32
  /// The size of the content in the archive; `nil` if it follows the content.
  var storedSize: Int64?
  /// The uncompressed size; `nil` if it follows the content.
  var size: DeclaredSize?

  /// Reads the header at `position`. Returns `nil` if there is none, or an incomplete one.
  init?(path: String, at position: Int64, fileSize: Int64) throws(ImportError) {
    let file = try FileRange(path: path, from: position)
    defer { file.close() }
    let fixed = LittleEndian(try file.prefix(30))
    guard fixed.bytes.count == 30, fixed[4, at: 0] == 0x0403_4B50 else { return nil }
    let (nameLength, extraLength) = (Int(fixed[2, at: 26]), Int(fixed[2, at: 28]))
    let rest = try file.prefix(max(1, nameLength + extraLength))
    guard rest.count >= nameLength + extraLength else { return nil }
    name = String(decoding: rest.prefix(nameLength), as: UTF8.self)
    content = position + 30 + Int64(nameLength + extraLength)
    guard content <= fileSize else { return nil }
    let flags = fixed[2, at: 6]
    isEncrypted = flags & 1 != 0
    hasDescriptor = flags & 8 != 0
    method = ZipMethod(rawValue: UInt16(truncatingIfNeeded: fixed[2, at: 8]))
    checksum = UInt32(truncatingIfNeeded: fixed[4, at: 14])
    let (stored, plain) = (fixed[4, at: 18], fixed[4, at: 22])
    storedSize = Int64(stored)
    size = DeclaredSize(Int64(plain), storedSize: fileSize - content)
    if stored == 0xFFFF_FFFF || plain == 0xFFFF_FFFF {
      let sizes = Self.largeSizes(Array(rest[nameLength..<nameLength + extraLength]))
      (size, storedSize) = (sizes.map { DeclaredSize(exactly: $0.size) }, sizes?.storedSize)
    }
    if hasDescriptor {
      // iOS writes the uncompressed size here too. A size of 0 means that it was not known yet.
      storedSize = nil
      if size?.bytes == 0 { size = nil }
    }
  }

  /// Returns the sizes in a zip64 extra field (APPNOTE.TXT 4.5.3), which has both in a local header.
  private static func largeSizes(_ extra: [UInt8]) -> (size: Int64, storedSize: Int64)? {
    let fields = LittleEndian(extra)
    var position = 0
    while position + 4 <= extra.count {
      let length = Int(fields[2, at: position + 2])
      if fields[2, at: position] == 1, length >= 16, position + 20 <= extra.count {
        return (Int64(clamping: fields[8, at: position + 4]), Int64(clamping: fields[8, at: position + 12]))
      }
      position += 4 + length
    }
    return nil
  }
}

/// The record after the content of a file whose sizes were not known when its header was written (APPNOTE.TXT 4.3.9):
/// with or without a signature, with sizes of 32 or 64 bits.
struct DataDescriptor {
  var checksum: UInt32
  /// The offset of the next header in the archive, in bytes.
  var end: Int64

  /// Reads the descriptor at `position`. Its form is recognised by the known sizes. In the form with 32 bits, some
  /// programs write only the lowest 32 bits of a larger size. Returns `nil` if no form matches.
  init?(path: String, at position: Int64, storedSize: Int64, size: Int64) throws(ImportError) {
    let file = try FileRange(path: path, from: position)
    defer { file.close() }
    let fields = LittleEndian(try file.prefix(24))
    for start in fields.bytes.count >= 4 && fields[4, at: 0] == 0x0807_4B50 ? [4, 0] : [0] {
      for width in [8, 4] where fields.bytes.count >= start + 4 + 2 * width {
        let bits: UInt64 = width == 8 ? .max : 0xFFFF_FFFF
        guard fields[width, at: start + 4] == UInt64(storedSize) & bits,
          fields[width, at: start + 4 + width] == UInt64(size) & bits
        else { continue }
        checksum = UInt32(truncatingIfNeeded: fields[4, at: start])
        end = position + Int64(start + 4 + 2 * width)
        return
      }
    }
    return nil
  }
}

/// The headers of all files at the end of an archive, and the record that ends them (APPNOTE.TXT 4.3.12, 4.3.16).
/// Their position is that after the last file, not the one in the record, because offsets in it have 32 bits.
struct CentralDirectory {
  private(set) var count = 0

  /// Reads the directory at `position`. Returns `nil` if it is missing or incomplete.
  init?(path: String, at position: Int64, fileSize: Int64) throws(ImportError) {
    let file = try FileRange(path: path, from: position)
    defer { file.close() }
    while true {
      let start = file.position
      let fields = LittleEndian(try file.prefix(46))
      guard fields.bytes.count >= 22 else { return nil }
      switch fields[4, at: 0] {
      case 0x0201_4B50 where fields.bytes.count == 46:
        // Skip its name, extra fields and comment.
        _ = try file.prefix(max(1, Int(fields[2, at: 28] + fields[2, at: 30] + fields[2, at: 32])))
        count += 1
      case 0x0605_4B50 where start + 22 + Int64(fields[2, at: 20]) == fileSize: return
      default: return nil
      }
    }
  }
}

/// An array of bytes from which integers are read, the lowest byte first.
private struct LittleEndian {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  subscript(count: Int, at position: Int) -> UInt64 {
    (0..<count).reduce(0) { $0 | UInt64(bytes[position + $1]) << (8 * UInt64($1)) }
  }
}

/// The compression method of a file in a zip archive (APPNOTE.TXT 4.4.5).
struct ZipMethod: Hashable, Sendable {
  let rawValue: UInt16

  static let stored = ZipMethod(rawValue: 0)
  static let deflated = ZipMethod(rawValue: 8)

  /// The method's name in messages.
  var name: String {
    switch rawValue {
    case 0: "nothing"
    case 8: "DEFLATE"
    case 9: "Deflate64"
    case 12: "bzip2"
    case 14: "LZMA"
    case 93: "Zstandard"
    case 95: "XZ"
    case 98: "PPMd"
    default: "method \(rawValue)"
    }
  }
}
