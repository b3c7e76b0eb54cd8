import CISAL
import Foundation

/// Writes zip files as other programs and iOS do, without compressing anything: DEFLATE has blocks for that.
struct ZipBytes {
  enum Descriptor: CaseIterable { case none, plain, signed, large }

  var descriptor = Descriptor.none
  var isDeflated = true
  var isEncrypted = false
  private(set) var bytes: [UInt8] = []

  mutating func add(_ name: String, _ content: [UInt8]) {
    let stored = isDeflated ? Self.deflated(content) : content
    let checksum = content.withUnsafeBufferPointer { crc32_gzip_refl(0, $0.baseAddress, UInt64($0.count)) }
    let isKnown = descriptor == .none
    append(0x0403_4B50, 4)
    append(20, 2)
    append((isKnown ? 0 : 8) | (isEncrypted ? 1 : 0), 2)
    append(isDeflated ? 8 : 0, 2)
    append(0, 4)
    append(isKnown ? UInt64(checksum) : 0, 4)
    append(isKnown ? UInt64(stored.count) : 0, 4)
    append(isKnown ? UInt64(content.count) : 0, 4)
    append(UInt64(name.utf8.count), 2)
    append(0, 2)
    bytes += Array(name.utf8) + stored
    if isKnown { return }
    if descriptor != .plain { append(0x0807_4B50, 4) }
    append(UInt64(checksum), 4)
    let width = descriptor == .large ? 8 : 4
    append(UInt64(stored.count), width)
    append(UInt64(content.count), width)
  }

  private mutating func append(_ value: UInt64, _ count: Int) {
    for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: value >> (8 * UInt64(index)))) }
  }

  /// RFC 1951 section 3.2.4.
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
