import Foundation
import HealthModel
import TestSupport
import Testing
import ZstandardFrames

@testable import HealthFormats

/// Tests of compressed files of samples.
@Suite struct CompressionTests {
  private static let text = Array((0..<20_000).map { "line \($0 * 7919 % 10_007)\n" }.joined().utf8)

  private static func compressed(
    _ bytes: [UInt8], _ compression: FileCompression, pieces: Int = 5000
  ) -> [UInt8] {
    let compressor = compression.compressor()
    var result: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: pieces) {
      result += compressor.compress(Array(bytes[start..<min(start + pieces, bytes.count)]))
    }
    return result + compressor.finish()
  }

  /// - Parameter pieces: The number of bytes that the file returns at a time.
  private static func content(
    of bytes: [UInt8], _ compression: FileCompression, pieces: Int = 1 << 20, reads: Int = 7000
  ) throws -> [UInt8] {
    let source = compression.decompressing(PiecewiseSource(bytes, pieces), path: "x")
    defer { source.close() }
    var result: [UInt8] = []
    while true {
      let piece = try [UInt8](unsafeUninitializedCapacity: reads) { buffer, count in
        if let base = buffer.baseAddress { count = try source.read(into: base, count: reads) }
      }
      if piece.isEmpty { return result }
      result += piece
    }
  }

  /// The frame states a size of 136 bytes but is empty.
  @Test func aFrameThatLiesAboutItsSizeIsTheSameHoweverItIsRead() {
    let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0x20, 0x88, 1, 0, 0]
    let found = [1, 41, 136, 1 << 16].map { try? Self.content(of: frame, .zstandard, reads: $0) }
    #expect(Set(found).count == 1)
  }

  @Test(arguments: FileCompression.allCases, [0, 1, 100, text.count])
  func whatIsCompressedComesBack(compression: FileCompression, count: Int) throws {
    let bytes = Array(Self.text.prefix(count))
    for pieces in [1000, 1 << 20] {
      let file = Self.compressed(bytes, compression, pieces: pieces)
      #expect(FileCompression(file) == compression)
      for (pieces, reads) in [(1, 7000), (13, 1), (1 << 20, 1 << 20)] where pieces > 1 || count < 1000 {
        #expect(try Self.content(of: file, compression, pieces: pieces, reads: reads) == bytes)
      }
    }
  }

  /// Tests compatibility with the usual command-line tools.
  @Test(arguments: [(FileCompression.gzip, "gzip"), (.zstandard, "zstd")])
  func toolsReadItAndAreRead(compression: FileCompression, tool: String) throws {
    let folder = try TemporaryFolder()
    guard ["/usr/bin/\(tool)", "/bin/\(tool)"].contains(where: FileManager.default.isExecutableFile) else { return }
    _ = try folder.write(Self.compressed(Self.text, compression), to: "ours")
    _ = try folder.write(Self.text, to: "text")
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/sh")
    shell.arguments = ["-c", "cd \(folder.path) && \(tool) -dc <ours >plain && \(tool) -c text >theirs"]
    try shell.run()
    shell.waitUntilExit()
    #expect(shell.terminationStatus == 0)
    #expect(try Array(Data(contentsOf: URL(filePath: folder.path + "/plain"))) == Self.text)
    let theirs = try Array(Data(contentsOf: URL(filePath: folder.path + "/theirs")))
    #expect(try Self.content(of: theirs, compression) == Self.text)
  }

  @Test(arguments: FileCompression.allCases)
  func membersFollowEachOther(compression: FileCompression) throws {
    let file = ["one", "", "two"].flatMap { Self.compressed(Array($0.utf8), compression) }
    for pieces in [1, 5, 1 << 20] {
      #expect(try Self.content(of: file, compression, pieces: pieces) == Array("onetwo".utf8))
    }
  }

  @Test func whatAGzipHeaderSaysIsPassedOver() throws {
    let plain = Self.compressed(Array("text".utf8), .gzip)
    // Extra field, name, comment and checksum of the header (RFC 1952, 2.3).
    let header: [UInt8] =
      [0x1F, 0x8B, 8, 0b1_1110, 1, 2, 3, 4, 0, 3] + [2, 0, 7, 7] + Array("name\0".utf8) + Array("words\0".utf8) + [
        9, 9,
      ]
    #expect(try Self.content(of: header + plain[10...], .gzip) == Array("text".utf8))
    // A tape is filled up.
    #expect(try Self.content(of: plain + Array(repeating: 0, count: 600), .gzip) == Array("text".utf8))
  }

  @Test(arguments: FileCompression.allCases)
  func aFileThatEndsEarlyIsAnErrorWhereverItEnds(compression: FileCompression) throws {
    let file = Self.compressed(Array(Self.text.prefix(3000)), compression)
    for length in 0..<file.count {
      if length == 0, compression == .zstandard { continue }
      #expect(throws: ImportError.self, "\(length)") {
        try Self.content(of: Array(file.prefix(length)), compression)
      }
    }
  }

  @Test(arguments: FileCompression.allCases)
  func aByteThatIsWrongIsFound(compression: FileCompression) throws {
    let bytes = Array(Self.text.prefix(3000))
    let file = Self.compressed(bytes, compression)
    for index in file.indices {
      var broken = file
      broken[index] ^= 0x10
      // Not every bit of a header matters.
      if let content = try? Self.content(of: broken, compression) { #expect(content == bytes) }
    }
  }

  @Test(arguments: FileCompression.allCases)
  func whatFollowsTheEndIsAnError(compression: FileCompression) throws {
    let file = Self.compressed(Array("text".utf8), compression) + Array("more".utf8)
    #expect(throws: ImportError.self) { try Self.content(of: file, compression) }
  }

  /// The file has 300 MB of whitespace, which no limit on a value stops. gzip can't compress as strongly.
  @Test func aBombIsRefused() throws {
    let compressor = FileCompression.zstandard.compressor()
    let blank = Array(repeating: UInt8(ascii: " "), count: 4 << 20)
    var file = (0..<75).reduce(into: [UInt8]()) { file, _ in file += compressor.compress(blank) }
    file += compressor.finish()
    let source = FileCompression.zstandard.decompressing(MemorySource(file), path: "x")
    var total = 0
    let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: 1 << 20)
    defer { buffer.deallocate() }
    #expect(throws: ImportError.self) {
      while true {
        let count = try source.read(into: buffer, count: 1 << 20)
        total += count
        if count == 0 { return }
      }
    }
    #expect(total < 200 << 20)
  }

  /// The frame requests more memory than is allowed (RFC 8878, 3.1.1.1.2).
  @Test func aLargeWindowIsRefused() throws {
    let frame: [UInt8] = [0x28, 0xB5, 0x2F, 0xFD, 0, 0b10001 << 3, 1, 0, 0]
    let error = #expect(throws: ImportError.self) { try Self.content(of: frame, .zstandard) }
    #expect("\(try #require(error))".contains("--long"))
  }

  @Test(arguments: FileCompression.allCases)
  func filesAreKnownByTheirContent(compression: FileCompression) throws {
    let folder = try TemporaryFolder()
    var maker = SampleMaker(seed: 3)
    let samples = maker.samples(500)
    for format in SampleFileTests.formats {
      let path = try folder.write(Self.compressed(SampleText(samples, format).bytes, compression), to: "any name")
      guard case .samples(let file as SampleFile) = try ImportFile.recognise(path) else {
        Issue.record("\(format)")
        continue
      }
      #expect(file.format == format)
      var read = 0
      var last: Int64 = 0
      let report = try file.read(progress: { last = $0 }) { read += $0.count }
      #expect(report.isComplete)
      #expect(read == samples.count)
      // As far as the file goes, not its content.
      #expect(last == file.totalBytes)
    }
    let metrics = #"{"data":{"metrics":[{"name":"step_count","units":"count","data":[]}]}}"#
    guard
      case .samples(let file as HealthAutoExport) = try ImportFile.recognise(
        try folder.write(Self.compressed(Array(metrics.utf8), compression), to: "hae"))
    else { throw ImportError.noSuchFile(path: "hae") }
    #expect(try file.read { _ in }.isComplete)
    // What is compressed and nothing of ours.
    let other = try folder.write(Self.compressed(Array("text".utf8), compression), to: "other")
    #expect(throws: ImportError.self) { try ImportFile.recognise(other) }
  }

  @Test func suffixes() {
    #expect(FileCompression(suffixOf: "a/b.json.gz") == .gzip)
    #expect(FileCompression(suffixOf: "B.ZST") == .zstandard)
    #expect(FileCompression(suffixOf: "gz") == nil)
    #expect(FileCompression(suffixOf: "a.gz/b.json") == nil)
  }
}

/// A source that returns a limited number of bytes at a time.
private final class PiecewiseSource: ByteSource {
  private let source: MemorySource
  private let size: Int

  init(_ bytes: [UInt8], _ size: Int) { (source, self.size) = (MemorySource(bytes), size) }

  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) -> Int {
    source.read(into: buffer, count: min(count, size))
  }

  func close() {}
}
