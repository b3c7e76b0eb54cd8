import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthStore

/// Tests of a store on a mounted backup: complete but not writable.
@Suite struct ReadOnlyStoreTests {
  private let original: TemporaryDirectory
  private let copy: TemporaryDirectory

  init() throws {
    original = try TemporaryDirectory()
    copy = try TemporaryDirectory()
  }

  /// Copies the store's files that exist.
  private func copyFiles(_ suffixes: [String]) throws {
    for suffix in suffixes {
      let name = "/store.sqlite" + suffix
      guard FileManager.default.fileExists(atPath: original.path + name) else { continue }
      try FileManager.default.copyItem(atPath: original.path + name, toPath: copy.path + name)
    }
  }

  private func files() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: copy.path) {
      files[name] = try Data(contentsOf: URL(fileURLWithPath: copy.path + "/" + name))
    }
    return files
  }

  @Test(
    "what was committed is read, also from a log that was left behind, and nothing is made",
    arguments: [[""], ["", "-wal"], ["", "-wal", "-shm"]])
  func reading(_ suffixes: [String]) async throws {
    var maker = SampleMaker(seed: 5)
    let samples = maker.samples(500)
    var store: HealthStore? = try HealthStore(directory: original.path)
    try await store?.apply(ChangeBatch(additions: Array(samples.prefix(300))))
    if suffixes == [""] {
      try await store?.apply(ChangeBatch(additions: Array(samples.dropFirst(300))))
      // The last who closes it brings the log into the file.
      store = nil
    } else {
      _ = try await store?.pool.writeWithoutTransaction { try $0.checkpoint(.full) }
      try await store?.apply(ChangeBatch(additions: Array(samples.dropFirst(300))))
    }
    try copyFiles(suffixes)
    let before = try files()
    let expected = try await (store ?? HealthStore(directory: original.path)).digests.current().record
    let readOnly = try HealthStore(readOnlyIn: copy.path)
    #expect(readOnly.isReadOnly)
    #expect(try await readOnly.digests.current().record == expected)
    try await readOnly.digests.keep()
    #expect(try await readOnly.samples.typeCounts().reduce(0) { $0 + $1.samples } == samples.count)
    await #expect(throws: StoreError.notPermitted(path: copy.path + "/store.sqlite")) {
      try await readOnly.audit.record(AuditEvent(.exported, [:]))
    }
    let after = try files()
    #expect(Set(after.keys) == Set(before.keys))
    #expect(after["store.sqlite"] == before["store.sqlite"])
    #expect(after["store.sqlite-wal"] == before["store.sqlite-wal"])
  }

  @Test("no store is no store")
  func missing() {
    #expect(throws: StoreError.missing(path: copy.path + "/store.sqlite")) { try HealthStore(readOnlyIn: copy.path) }
  }
}

@Suite struct LockBusyHandlerTests {
  @Test("as many pauses as SQLite's own timeout makes, and not a word about a short wait")
  func limit() {
    let patience = LockBusyHandler(limit: 0.3) { Issue.record("too early") }
    var tries = 0
    while patience.wait(tries) { tries += 1 }
    // 1 + 2 + 5 + 10 + 15 + 20 + 25 + 25 + 25 + 50 + 50 = 228; 100 more would be too long.
    #expect(tries == 11)
  }

  @Test("a long wait is said once; a short patience is over when it ends")
  func telling() async {
    await confirmation { told in
      let patience = LockBusyHandler(limit: 30) { told() }
      #expect(patience.wait(18))
      #expect(patience.wait(19))
      #expect(patience.wait(20))
      #expect(!patience.wait(310))
      #expect(!patience.limited(to: 0.1) { patience.wait(12) })
      #expect(patience.wait(12))
    }
  }
}
