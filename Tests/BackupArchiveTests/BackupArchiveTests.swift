import AgeEncryption
import Foundation
import TestSupport
import Testing
import ZstandardFrames

@testable import BackupArchive

@Suite struct BackupArchiveTests {
  private static let record = BackupManifest.Record(
    samples: 3, digest: String(repeating: "a", count: 32), deleted: 1, deletedDigest: String(repeating: "b", count: 32))

  private let folder: TemporaryDirectory
  private let contents = [
    "store.sqlite": (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 13) }, "empty": [UInt8](),
    "destinations/\(String(repeating: "long", count: 30))": Array("x".utf8),
  ]

  init() throws { folder = try TemporaryDirectory() }

  private func write(_ recipients: [AgeRecipient], _ change: (inout BackupManifest) -> Void = { _ in }) throws
    -> [UInt8]
  {
    var sources: [BackupWriter.Source] = []
    for (index, (name, bytes)) in contents.sorted(by: { $0.key < $1.key }).enumerated() {
      try Data(bytes).write(to: URL(filePath: folder.path("\(index)")))
      sources.append(BackupWriter.Source(name: name, path: folder.path("\(index)")))
    }
    let writer = BackupWriter(sources, for: recipients)
    var manifest = BackupManifest(
      created: Date(timeIntervalSince1970: 1_750_000_000), program: "1.2.3", contents: .everything, host: "attic",
      record: Self.record, files: try writer.files())
    change(&manifest)
    var result: [UInt8] = []
    try writer.run(manifest) { result += $0 }
    return result
  }

  private func read(_ bytes: [UInt8], _ keys: [AgeKey] = []) throws -> (BackupManifest, [String: [UInt8]]) {
    var rest = bytes[...]
    let reader = try BackupReader { count in
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
    try reader.unlock(keys)
    let manifest = try reader.manifest()
    var found: [String: [UInt8]] = [:]
    try reader.files(manifest) { file, next in
      while let piece = try next() { found[file.name, default: []] += piece }
      found[file.name, default: []] += []
    }
    return (manifest, found)
  }

  @Test("what is packed comes back, encrypted or not")
  func roundTrip() throws {
    let key = AgeKey.generate()
    for recipients in [[], [try AgeRecipient(try #require(key.recipient))]] {
      let (manifest, found) = try read(try write(recipients), [key])
      #expect(found == contents)
      #expect(manifest.host == "attic" && manifest.record == Self.record)
    }
  }

  @Test("tar, zstd and sha256sum find in it what is said of it")
  func judges() throws {
    try Data(write([])).write(to: URL(filePath: folder.path("b.tar.zst")))
    let shell = Process()
    shell.executableURL = URL(filePath: "/bin/bash")
    shell.arguments = [
      "-euc",
      """
      mkdir out; zstd -q -d b.tar.zst; tar -x -C out -f b.tar; cd out
      python3 -c 'import json, hashlib
      for f in json.load(open("manifest.json"))["files"]:
        data = open(f["name"], "rb").read()
        assert len(data) == f["bytes"] and hashlib.sha256(data).hexdigest() == f["sha256"], f'
      test "$(find . -type f | wc -l)" = 4
      # Packed again by others, it is read as before.
      tar --format=pax -c -f ../c.tar ./manifest.json ./store.sqlite ./empty destinations
      cd ..; zstd -q -19 c.tar
      """,
    ]
    shell.currentDirectoryURL = folder.url
    try shell.run()
    shell.waitUntilExit()
    #expect(shell.terminationStatus == 0)
    let repacked = Array(try Data(contentsOf: URL(filePath: folder.path("c.tar.zst"))))
    #expect(try read(repacked).1 == contents)
  }

  @Test("a bit flipped anywhere, and an end cut off anywhere, is noticed")
  func damage() throws {
    let key = AgeKey.generate()
    let recipient = try AgeRecipient(try #require(key.recipient))
    for recipients in [[], [recipient]] {
      let bytes = try write(recipients)
      for index in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 150)) {
        var damaged = bytes
        damaged[index] ^= 0x10
        #expect(throws: (any Error).self, "byte \(index) of \(bytes.count)") { try read(damaged, [key]) }
        #expect(throws: (any Error).self, "cut at \(index)") { try read(Array(bytes[..<index]), [key]) }
      }
    }
  }

  @Test("a manifest that does not say what is there")
  func manifests() throws {
    #expect(throws: BackupError.changed(file: "store.sqlite")) {
      try read(try write([]) { $0.files[2].sha256 = String(repeating: "0", count: 64) })
    }
    #expect(throws: BackupError.self) { try read(try write([]) { $0.files[2].sha256 = "0" }) }
    #expect(throws: BackupError.self) { try read(try write([]) { $0.files[1].name = "other" }) }
    #expect(throws: BackupError.self) {
      try read(try write([]) { $0.files.append(.init(name: "missing", bytes: 0, sha256: $0.files[1].sha256)) })
    }
    #expect(throws: BackupError.newer(version: 2)) {
      _ = try BackupManifest(Array(#"{"format":"hpeer-backup","version":2,"whatever":[]}"#.utf8))
    }
    for text in ["", "{}", "[]", #"{"format":"hpeer-backup"}"#, #"{"format":"other","version":1}"#] {
      #expect(throws: BackupError.notABackup) { _ = try BackupManifest(Array(text.utf8)) }
    }
    #expect(throws: BackupError.notABackup) { try read(Array("PK\u{3}\u{4}".utf8)) }
    #expect(throws: BackupError.notABackup) { try read([]) }
  }

  // MARK: tar

  private func entries(_ bytes: [UInt8]) throws -> [TarReader.Entry] {
    var rest = bytes[...]
    let reader = TarReader { count in
      defer { rest = rest.dropFirst(min(count, 100)) }
      return Array(rest.prefix(min(count, 100)))
    }
    var entries: [TarReader.Entry] = []
    while let entry = try reader.next() { entries.append(entry) }
    return entries
  }

  @Test("numbers that octal digits cannot hold")
  func large() throws {
    let header = TarHeader.blocks(name: "store.sqlite", size: 1 << 40, modified: 0)
    var rest = header[...]
    let reader = TarReader { count in
      defer { rest = rest.dropFirst(count) }
      return Array(rest.prefix(count))
    }
    #expect(try reader.next() == TarReader.Entry(name: "store.sqlite", size: 1 << 40))
    #expect(throws: BackupError.cutOff) { try reader.next() }
  }

  @Test("names that lead elsewhere, and whatever is no file")
  func names() throws {
    for name in ["/etc/passwd", "../x", "a/../../x", "a//b", ".", "..", "a/", "", "a\\b", "a\nb", "a b", "./../x"] {
      let bytes = TarHeader.blocks(name: name, size: 0, modified: 0) + TarHeader.end
      #expect(throws: BackupError.self, "\(name)") { try entries(bytes) }
    }
    let good = TarHeader.blocks(name: "./a/b", size: 0, modified: 0)
    #expect(try entries(good + TarHeader.end).map(\.name) == ["a/b"])
    for type in "1234678LKS".utf8 {
      var block = good
      let before = block[156]
      block[156] = type
      let octal = String(decoding: block[148..<154], as: UTF8.self)
      let sum = try #require(Int(octal, radix: 8)) + Int(type) - Int(before)
      for (index, digit) in String(sum, radix: 8).utf8.reversed().enumerated() { block[153 - index] = digit }
      #expect(throws: BackupError.self, "type \(type)") { try entries(block + TarHeader.end) }
    }
    #expect(throws: BackupError.cutOff) { try entries(good) }
    #expect(throws: BackupError.self) { try entries(good + TarHeader.end + [1]) }
    #expect(try entries(good + TarHeader.end + [UInt8](repeating: 0, count: 9000)).count == 1)
  }
}
