import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import Testing
import TestSupport

/// Tests of what disks, other processes and power failures do to a store's files: each ends with the right error,
/// nothing is overwritten, and earlier commits stay readable.
@Suite(.timeLimit(.minutes(5))) struct FaultTests {
  let file: StoreFile
  private let batches: [ChangeBatch]

  init() throws {
    file = try StoreFile()
    var maker = SampleMaker(seed: 5)
    batches = (0..<12).map { batch in
      ChangeBatch(additions: (0..<40).map { maker.steps(at: batch * 40 + $0) })
    }
  }

  /// Returns the files of a killed store as another machine would find them: file and log, but no shared memory.
  private func killed(batches count: Int) async throws -> StoreFile {
    let store = try file.open()
    for batch in batches.prefix(count) { try await store.apply(batch) }
    let copy = try StoreFile()
    for name in ["store.sqlite", "store.sqlite-wal"] {
      try FileManager.default.copyItem(atPath: file.directory.path(name), toPath: copy.directory.path(name))
    }
    // Not before the copy is made: the last one to go moves the log into the file.
    withExtendedLifetime(store) {}
    return copy
  }

  private func expectSound(_ file: StoreFile) async throws {
    #expect(try await HealthStore.checkIntegrity(directory: file.directory.path).findings == [])
  }

  // MARK: The log

  @Test func whatAKilledProcessCommittedIsThere() async throws {
    let copy = try await killed(batches: 5)
    let store = try copy.open()
    #expect(try await store.allChanges() == batches.prefix(5).flatMap(\.additions).map(Change.added))
    try await store.apply(batches[5])
    try await expectSound(copy)
  }

  /// Each transaction is either complete or missing, and never present without the transactions before it.
  @Test(arguments: 0..<12)
  func aLogThatWasCutOffOrDamagedHoldsWholeTransactions(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let copy = try await killed(batches: 12)
    let log = URL(filePath: copy.path + "-wal")
    var bytes = try Data(contentsOf: log)
    let place = Int.random(in: 0..<bytes.count, using: &random)
    if random.oneIn(2) {
      bytes = bytes.prefix(place)
    } else {
      for index in place..<min(bytes.count, place + 100) { bytes[index] ^= UInt8.random(in: 1...255, using: &random) }
    }
    try bytes.write(to: log)
    do {
      let store = try copy.open()
      let changes = try await store.allChanges()
      #expect(changes.count % 40 == 0, "seed \(seed)")
      #expect(changes == batches.flatMap(\.additions).prefix(changes.count).map(Change.added), "seed \(seed)")
      try await store.apply(batches[11])
      try await expectSound(copy)
    } catch StoreError.corrupt {
      // The tables themselves were still in the log when it was damaged, and the file is only one page of it.
      #expect(place < bytes.count)
    }
  }

  @Test(arguments: [true, false])
  func aLogWithoutItsFileIsNotThrownAway(isEmpty: Bool) async throws {
    let copy = try await killed(batches: 3)
    try FileManager.default.removeItem(atPath: copy.path)
    if isEmpty { try Data().write(to: copy.url) }
    let log = try Data(contentsOf: URL(filePath: copy.path + "-wal"))
    for create in [true, false] {
      let error = #expect(throws: StoreError.self) {
        try HealthStore(directory: copy.directory.path, create: create)
      }
      guard case .corrupt = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
    let error = await #expect(throws: StoreError.self) {
      try await HealthStore.checkIntegrity(directory: copy.directory.path)
    }
    guard case .corrupt = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try Data(contentsOf: URL(filePath: copy.path + "-wal")) == log)
  }

  @Test func anEmptyFileIsNoStoreYet() async throws {
    try #require(
      FileManager.default.createFile(atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600]))
    #expect(throws: StoreError.missing(path: file.path)) {
      try HealthStore(directory: file.directory.path, create: false)
    }
    #expect(try Data(contentsOf: file.url).isEmpty)
    try await file.open().apply(batches[0])
    #expect(try await file.open().allChanges().count == 40)
  }

  // MARK: Pages

  @Test func besideADamagedPageTheRestIsReadable() async throws {
    try await { () async throws in
      let store = try file.open()
      var maker = SampleMaker(seed: 1)
      try await store.apply(ChangeBatch(additions: (0..<4000).map { maker.steps(at: $0) }))
      try await store.audit.record(AuditEvent(.imported))
    }()
    var bytes = try await file.copy()
    // Far behind the first pages, where the tables are described.
    let page = bytes.count / 4096 / 2
    bytes.replaceSubrange(page * 4096..<(page + 2) * 4096, with: repeatElement(0x5A, count: 2 * 4096))
    try bytes.write(to: file.url)
    let store = try file.open()
    #expect(try await store.audit.records().count == 1)
    #expect(try await store.samples.typeCounts() == [TypeCount(type: SampleMaker.stepCount, samples: 4000)])
    #expect(try await store.feed.changes(since: .zero, limit: 50).changes.count == 50)
    #expect(try await !HealthStore.checkIntegrity(directory: file.directory.path).isSound)
  }

  // MARK: Others

  @Test(.enabled(if: SQLiteShell.isAvailable))
  func aStoreThatAnotherProcessKeepsLockedIsSaidToBe() async throws {
    let store = try HealthStore(directory: file.directory.path, busyTimeout: 0.2)
    try await store.apply(batches[0])
    let holder = try SQLiteSession(file.path)
    try await holder.run("BEGIN IMMEDIATE")
    await #expect(throws: StoreError.locked(path: file.path)) { try await store.apply(batches[1]) }
    #expect(try await store.allChanges().count == 40)
    try await holder.run("ROLLBACK")
    try await store.apply(batches[1])
    #expect(try await store.allChanges().count == 80)
    holder.end()
    try await expectSound(file)
  }

  /// Tests both kinds of write, in a task and on its own thread. The cancellation comes when the store reports that
  /// the wait has begun.
  @Test(.enabled(if: SQLiteShell.isAvailable), arguments: [true, false])
  func whoeverIsCancelledDoesNotWaitForAnotherProcess(onThread isOnThread: Bool) async throws {
    let (waits, waiting) = AsyncStream<Void>.makeStream()
    let store = try HealthStore(directory: file.directory.path) { _ in waiting.yield() }
    try await store.apply(batches[0])
    let holder = try SQLiteSession(file.path)
    try await holder.run("BEGIN IMMEDIATE")
    let batch = batches[1]
    let writer = Task {
      if isOnThread {
        try await onThread { isCancelled in _ = try ImportWriter(store, named: "a.json", isCancelled: isCancelled) }
      } else {
        try await store.apply(batch)
      }
    }
    for await _ in waits.prefix(1) {}
    writer.cancel()
    await #expect(throws: StoreError.cancelled) { try await writer.value }
    try await holder.run("ROLLBACK")
    // The next write waits for itself, and is not taken for the cancelled one.
    try await store.apply(batch)
    #expect(try await store.allChanges().count == 80)
    holder.end()
    try await expectSound(file)
  }

  // MARK: Disks

  @Test(.enabled(if: SmallDisk.isAvailable, "needs root, to mount a small disk"))
  func aFullDiskKeepsWhatWasCommitted() async throws {
    let disk = try SmallDisk(kilobytes: 1_500)
    defer { disk.unmount() }
    let store = try HealthStore(directory: disk.path)
    var committed: [Sample] = []
    var maker = SampleMaker(seed: 1)
    var error: (any Error)?
    for batch in 0..<500 where error == nil {
      let samples = (0..<50).map { maker.steps(at: batch * 50 + $0) }
      do {
        try await store.apply(ChangeBatch(additions: samples), position: ("peer", "\(batch)"))
        committed += samples
      } catch let failure {
        error = failure
      }
    }
    #expect(error as? StoreError == .diskFull(path: disk.path + "/store.sqlite"))
    #expect(committed.count > 500)
    #expect(try await store.allChanges() == committed.map(Change.added))
    #expect(try await store.feed.position(of: "peer") == "\(committed.count / 50 - 1)")
    // Again and again: still the same.
    for _ in 0..<3 {
      await #expect(throws: StoreError.diskFull(path: disk.path + "/store.sqlite")) {
        try await store.apply(ChangeBatch(additions: (0..<50).map { maker.steps(at: 90_000 + $0) }))
      }
    }
    #expect(try await store.allChanges() == committed.map(Change.added))
    try disk.remount("size=20m")
    let late = maker.steps(at: 99_999)
    try await store.add(late)
    #expect(try await store.allChanges() == (committed + [late]).map(Change.added))
    #expect(try await HealthStore.checkIntegrity(directory: disk.path).findings == [])
  }

  @Test(.enabled(if: SmallDisk.isAvailable, "needs root, to mount a small disk"))
  func aReadOnlyDiskIsNotPermittedAndCanBeChecked() async throws {
    let disk = try SmallDisk(kilobytes: 8_000)
    defer { disk.unmount() }
    try await { () async throws in
      let store = try HealthStore(directory: disk.path)
      try await store.apply(batches[0])
    }()
    while FileManager.default.fileExists(atPath: disk.path + "/store.sqlite-wal") {
      try await Task.sleep(for: .milliseconds(1))
    }
    try disk.remount("ro")
    for create in [true, false] {
      let error = #expect(throws: StoreError.self) { try HealthStore(directory: disk.path, create: create) }
      guard case .notPermitted = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
    #expect(try await HealthStore.checkIntegrity(directory: disk.path).findings == [])
    try disk.remount("rw")
    #expect(try await HealthStore(directory: disk.path).allChanges().count == 40)
  }

  /// Skipped for root, who can write despite the file mode.
  @Test(.enabled(if: geteuid() != 0, "root may write everywhere"))
  func aPermissionThatIsTakenAwayIsSaidToBeMissing() async throws {
    try await file.open().apply(batches[0])
    try await file.waitUntilClosed()
    try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: file.path)
    #expect(throws: StoreError.notPermitted(path: file.path)) { try file.open() }
    #expect(try await HealthStore.checkIntegrity(directory: file.directory.path).findings == [])
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    #expect(try await file.open().allChanges().count == 40)
  }
}
