import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

@Suite struct ZipWriterTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func archive(_ files: [(name: String, content: [UInt8], isLarge: Bool)], pieces: Int = 1000) -> [UInt8] {
    var writer = ZipWriter(modified: Timestamp(seconds: 1_720_000_000))
    var bytes: [UInt8] = []
    for file in files {
      bytes += writer.begin(file.name, mayBeLarge: file.isLarge)
      for start in stride(from: 0, to: file.content.count, by: pieces) {
        bytes += writer.append(Array(file.content[start..<min(start + pieces, file.content.count)]))
      }
      bytes += writer.endFile()
    }
    return bytes + writer.finish()
  }

  private static let files: [(name: String, content: [UInt8], isLarge: Bool)] = [
    ("a/large.txt", Array((0..<30_000).map { "line \($0)\n" }.joined().utf8), true),
    ("a/empty", [], false), ("a/ä 文.txt", Array("text".utf8), false), ("a/none", [], true),
  ]

  @Test func libzipReadsIt() throws {
    let path = try folder.write(archive(Self.files), to: "x.zip")
    let archive = try ZipArchive(path: path)
    let entries = try archive.entries()
    #expect(entries.map(\.name) == Self.files.map(\.name))
    for (entry, file) in zip(entries, Self.files) {
      #expect(entry.size == Int64(file.content.count))
      let source = try archive.source(of: entry)
      #expect(try source.prefix(1 << 20) == file.content)
    }
  }

  @Test func whatIsThereOfOneThatWasCutOffIsFound() throws {
    let bytes = archive(Self.files)
    let path = try folder.write(Array(bytes.dropLast(200)), to: "x.zip")
    let entries = try ZipSalvage.contents(of: path).entries
    #expect(entries.map(\.name).starts(with: Self.files.prefix(2).map(\.name)))
    #expect(entries.first.map { Int($0.size) } == Self.files[0].content.count)
  }

  /// The number of files exceeds the limit of a directory without zip64.
  @Test func manyFiles() throws {
    let files = (0..<66_000).map { (name: "\($0)", content: [UInt8](), isLarge: false) }
    let entries = try ZipArchive(path: try folder.write(archive(files), to: "x.zip")).entries()
    #expect(entries.count == files.count)
    #expect(entries.last?.name == "65999")
  }

  /// Tests compatibility with the usual programs.
  @Test(arguments: [
    "unzip -tqq x.zip", "python3 -c 'import zipfile,sys; sys.exit(zipfile.ZipFile(\"x.zip\").testzip() is not None)'",
  ])
  func others(command: String) throws {
    let program = command.prefix { $0 != " " }
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/\(program)") else { return }
    _ = try folder.write(archive(Self.files), to: "x.zip")
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/sh")
    shell.arguments = ["-c", "cd \(folder.path) && \(command)"]
    try shell.run()
    shell.waitUntilExit()
    #expect(shell.terminationStatus == 0)
  }
}
