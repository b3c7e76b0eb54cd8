import CISAL
import Foundation

/// A writer of zip files like those of other programs and iOS. It doesn't compress, because DEFLATE has stored
/// blocks.
struct ZipBytes {
  enum Descriptor: CaseIterable { case none, plain, signed, large }

  var descriptor = Descriptor.none
  var isDeflated = true
  var isEncrypted = false
  /// A compression method that headers claim in place of the real one, for methods that can't be written here.
  var claimedMethod: UInt64?
  private(set) var bytes: [UInt8] = []
  private(set) var directory: [UInt8] = []
  private(set) var count: UInt64 = 0

  /// The file with the central directory and its end (APPNOTE.TXT 4.3.12, 4.3.16), as in a file that isn't truncated.
  var withDirectory: [UInt8] { withDirectory(saidToBeAt: UInt64(bytes.count)) }

  /// Returns the file with a stated directory offset that may be wrong, like that of an offset that needs more than
  /// 32 bits.
  func withDirectory(saidToBeAt offset: UInt64) -> [UInt8] {
    bytes + directory
      + Self.fields(
        (0x0605_4B50, 4), (0, 4), (count, 2), (count, 2), (UInt64(directory.count), 4), (offset, 4), (0, 2))
  }

  mutating func add(_ name: String, _ content: [UInt8]) {
    let checksum = content.withUnsafeBufferPointer { crc32_gzip_refl(0, $0.baseAddress, UInt64($0.count)) }
    add(name, isDeflated ? Self.deflated(content) : content, checksum, size: UInt64(content.count))
  }

  /// - Parameters:
  ///   - stored: The content as stored in the archive.
  ///   - checksum: The checksum of the uncompressed content.
  ///   - size: The size of the uncompressed content. Headers have its lowest 32 bits.
  mutating func add(_ name: String, _ stored: [UInt8], _ checksum: UInt32, size: UInt64) {
    let offset = UInt64(bytes.count)
    let isKnown = descriptor == .none
    append(0x0403_4B50, 4)
    append(20, 2)
    append((isKnown ? 0 : 8) | (isEncrypted ? 1 : 0), 2)
    append(claimedMethod ?? (isDeflated ? 8 : 0), 2)
    append(0, 4)
    append(isKnown ? UInt64(checksum) : 0, 4)
    append(isKnown ? UInt64(stored.count) : 0, 4)
    append(isKnown ? size : 0, 4)
    append(UInt64(name.utf8.count), 2)
    append(0, 2)
    bytes += Array(name.utf8) + stored
    count += 1
    directory += Self.fields(
      (0x0201_4B50, 4), (20, 2), (20, 2), ((isKnown ? 0 : 8) | (isEncrypted ? 1 : 0), 2),
      (claimedMethod ?? (isDeflated ? 8 : 0), 2), (0, 4), (UInt64(checksum), 4), (UInt64(stored.count), 4),
      (size, 4), (UInt64(name.utf8.count), 2), (0, 4), (0, 4), (0, 4), (offset, 4))
    directory += Array(name.utf8)
    if isKnown { return }
    if descriptor != .plain { append(0x0807_4B50, 4) }
    append(UInt64(checksum), 4)
    let width = descriptor == .large ? 8 : 4
    append(UInt64(stored.count), width)
    append(size, width)
  }

  private mutating func append(_ value: UInt64, _ count: Int) { bytes += Self.fields((value, count)) }

  /// Returns numbers in little-endian order, each with its number of bytes.
  private static func fields(_ fields: (value: UInt64, count: Int)...) -> [UInt8] {
    fields.flatMap { value, count in
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }
  }

  /// Returns content in stored blocks (RFC 1951 section 3.2.4).
  private static func deflated(_ content: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var start = 0
    repeat {
      let end = min(content.count, start + 1000)
      let length = UInt16(end - start)
      result.append(end == content.count ? 1 : 0)
      for value in [length, ~length] { result += [UInt8(value & 0xFF), UInt8(value >> 8)] }
      result += content[start..<end]
      start = end
    } while start < content.count
    return result
  }
}
