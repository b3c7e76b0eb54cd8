import CISAL
import Foundation
import Testing

@testable import HealthFormats

/// Tests of zip files beyond 4 GiB as the Mac's Archive Utility writes them: with the lowest 32 bits of each size,
/// and without zip64.
@Suite struct LargeZipTests {
  private static let wrap: Int64 = 1 << 32

  @Test("what wrapped is taken for what it is, and a size that lies is not")
  func declaredSize() {
    let enough = Self.wrap / 1000
    let large = DeclaredSize(50, storedSize: enough)
    #expect(large.isThat(50) && large.isThat(50 + Self.wrap) && large.isThat(50 + 2 * Self.wrap))
    #expect(!large.isThat(49) && !large.isThat(51) && !large.isThat(49 + Self.wrap))
    #expect(large.allows(40) && large.allows(1 << 40))
    // As much can never come of so little.
    for size in [DeclaredSize(50, storedSize: 4_000_000), DeclaredSize(exactly: 50)] {
      #expect(size.allows(50) && !size.allows(51))
      #expect(size.isThat(50) && !size.isThat(50 + Self.wrap))
    }
    // Of 10 MB that say 5 MB, most likely 4 GiB have gone; of 100 MB, nothing.
    #expect(DeclaredSize(5 << 20, storedSize: 10 << 20).likely == 5 << 20 + Self.wrap)
    #expect(DeclaredSize(100 << 20, storedSize: 10 << 20).likely == 100 << 20)
    #expect(DeclaredSize(5, storedSize: .max).likely > 0 && DeclaredSize(.max, storedSize: .max).likely == .max)
    #expect(!DeclaredSize(Self.wrap, storedSize: .max).allows(Self.wrap + 1))
  }

  @Test("the sizes after a file may have wrapped")
  func descriptor() throws {
    let folder = try TemporaryFolder()
    let numbers: [UInt32] = [0x0807_4B50, 77, 1000, 4]
    let path = try folder.write(numbers.flatMap { n in (0..<4).map { UInt8(n >> ($0 * 8) & 0xFF) } }, to: "descriptor")
    let read = { (stored: Int64, size: Int64) in try DataDescriptor(path: path, at: 0, storedSize: stored, size: size) }
    #expect(try read(1000, 4)?.checksum == 77)
    #expect(try read(1000, 4 + Self.wrap)?.end == 16)
    #expect(try read(1000 + Self.wrap, 4 + 3 * Self.wrap)?.checksum == 77)
    #expect(try read(1000, 5 + Self.wrap) == nil)
  }

  @Test("an export of more than 4 GiB is read")
  func export() throws {
    let folder = try TemporaryFolder()
    let text = ExportText(ExportText.record()).text
    let end = try #require(text.range(of: "</HealthData>")).lowerBound
    let (head, tail) = (Array(text[..<end].utf8), Array(text[end...].utf8))
    let groups = Int(Self.wrap) / Spaces.ofGroup + 1
    var zip = ZipBytes(descriptor: .signed)
    zip.add(
      "apple_health_export/export.xml", Spaces.deflated(groups: groups, between: head, tail),
      Spaces.checksum(groups: groups, between: head, tail),
      size: UInt64(head.count + Spaces.count(groups: groups) + tail.count))
    let export = try AppleHealthExport(path: folder.write(zip.withDirectory, to: "export.zip"))
    let survey = try export.survey()
    var records = 0
    let report = try export.read(survey) { records += $0.count }
    #expect(survey.isComplete && report.isComplete && records == 1)
  }
}

/// A generator of compressed text with a very large number of spaces, made without compressing it.
private enum Spaces {
  /// The number of spaces in a group of eight repetitions, which take a whole number of bytes.
  static let ofGroup = 8 * 258

  /// Returns the total number of spaces: the first, a repetition that fills its last byte, and the groups.
  static func count(groups: Int) -> Int { 1 + 258 + groups * ofGroup }

  /// Returns deflated data: two stored blocks (RFC 1951 section 3.2.4) around a block with fixed codes (3.2.6), which
  /// has a space and then repetitions of the last 258 bytes.
  static func deflated(groups: Int, between head: [UInt8], _ tail: [UInt8]) -> [UInt8] {
    let (space, again) = ([0, 1, 0, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 1, 0, 1] + [0, 0, 0, 0, 0])
    let group = bytes(Array(repeatElement(again, count: 8).joined()))
    var result = [0] + stored(head) + bytes([0, 1, 0] + space + again)
    result.reserveCapacity(result.count + groups * group.count + tail.count + 8)
    for _ in 0..<groups { result += group }
    // The end of that block, and the beginning of the last one.
    return result + bytes(Array(repeatElement(0, count: 7)) + [1, 0, 0]) + stored(tail)
  }

  static func checksum(groups: Int, between head: [UInt8], _ tail: [UInt8]) -> UInt32 {
    let many = [UInt8](repeating: UInt8(ascii: " "), count: ofGroup * 512)
    var (checksum, rest) = (update(0, head[...]), count(groups: groups))
    while rest > 0 {
      let part = many.prefix(rest)
      (checksum, rest) = (update(checksum, part), rest - part.count)
    }
    return update(checksum, tail[...])
  }

  private static func update(_ checksum: UInt32, _ bytes: ArraySlice<UInt8>) -> UInt32 {
    bytes.withUnsafeBufferPointer { crc32_gzip_refl(checksum, $0.baseAddress, UInt64($0.count)) }
  }

  private static func stored(_ content: [UInt8]) -> [UInt8] {
    let length = UInt16(content.count)
    return [length, ~length].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] } + content
  }

  /// Packs bits into bytes, lowest bit first.
  private static func bytes(_ bits: [Int]) -> [UInt8] {
    stride(from: 0, to: bits.count, by: 8).map { start in
      bits[start..<min(start + 8, bits.count)].reversed().reduce(0) { $0 << 1 | UInt8($1) }
    }
  }
}
