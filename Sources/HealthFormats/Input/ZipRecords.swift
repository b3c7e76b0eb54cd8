import Foundation

/// A local file header (APPNOTE.TXT 4.3.7).
struct LocalHeader {
  var name: String
  /// The offset of the content in the archive.
  var content: Int64
  var isEncrypted: Bool
  /// Whether checksum and sizes follow the content.
  var hasDescriptor: Bool
  var method: ZipMethod
  var checksum: UInt32
  /// `nil` where it follows the content.
  var storedSize: Int64?
  /// Uncompressed; `nil` where it follows the content.
  var size: DeclaredSize?

  /// `nil` when there is none, or not all of it.
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
      // iOS writes the size here too; whoever writes zeros does not know it yet.
      storedSize = nil
      if size?.bytes == 0 { size = nil }
    }
  }

  /// The extra field for sizes beyond 32 bits (APPNOTE.TXT 4.5.3), which has both in a local header.
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

/// What follows the content of a file whose sizes were not known when its header was written (APPNOTE.TXT 4.3.9): with
/// or without a signature, with sizes of 32 or 64 bits.
struct DataDescriptor {
  var checksum: UInt32
  /// The offset of the next header in the archive.
  var end: Int64

  /// The sizes are what was found, by which the forms are told apart; of those of 32 bits, some programs write no more than
  /// these bits. `nil` when they fit none.
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

/// The headers of all files at the end of an archive, and the record that ends it (APPNOTE.TXT 4.3.12, 4.3.16). Where they are
/// comes from what is before them, not from the record: offsets in it have 32 bits.
struct CentralDirectory {
  private(set) var count = 0

  /// `nil` when it is not there, or not all of it.
  init?(path: String, at position: Int64, fileSize: Int64) throws(ImportError) {
    let file = try FileRange(path: path, from: position)
    defer { file.close() }
    while true {
      let start = file.position
      let fields = LittleEndian(try file.prefix(46))
      guard fields.bytes.count >= 22 else { return nil }
      switch fields[4, at: 0] {
      case 0x0201_4B50 where fields.bytes.count == 46:
        // Its name, extra fields and comment.
        _ = try file.prefix(max(1, Int(fields[2, at: 28] + fields[2, at: 30] + fields[2, at: 32])))
        count += 1
      case 0x0605_4B50 where start + 22 + Int64(fields[2, at: 20]) == fileSize: return
      default: return nil
      }
    }
  }
}

/// Numbers in bytes, the lowest byte first.
private struct LittleEndian {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  subscript(count: Int, at position: Int) -> UInt64 {
    (0..<count).reduce(0) { $0 | UInt64(bytes[position + $1]) << (8 * UInt64($1)) }
  }
}

/// How a file in a zip archive is compressed (APPNOTE.TXT 4.4.5).
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
