import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests that undoing the last import leaves no trace of it.
@Suite struct UndoTests {
  let fixture: StoreFixture
  var store: HealthStore { fixture.store }
  private let type = ExportedSample().type

  init() throws { fixture = try StoreFixture() }

  private func samples(_ minutes: Range<Int>) -> [Sample] { minutes.map { ExportedSample(minute: $0).sample() } }

  private func refusal(_ store: HealthStore? = nil) async throws -> UndoRefusal? {
    if case .refused(let refusal) = try await (store ?? self.store).imports.undoLast() { refusal } else { nil }
  }

  private func undo() async throws -> ImportUndo {
    let outcome = try await store.imports.undoLast()
    guard case .undone(let undo) = outcome else {
      Issue.record("\(outcome)")
      throw StoreError.cancelled
    }
    return undo
  }

  private func expectSound() async throws {
    #expect(try await HealthStore.checkIntegrity(directory: fixture.directory.path).findings == [])
  }

  // MARK: What comes back

  @Test func whatWasAddedIsGoneWithoutATombstone() async throws {
    try store.importExport(samples(0..<5), file: .init(name: "a.zip"))
    let before = try await store.digests.deep().record
    try store.importExport(samples(3..<9), file: .init(name: "b.zip"))
    let undo = try await undo()
    #expect(undo.name == "b.zip")
    #expect(undo.removed == [type: 4])
    #expect(undo.restored.isEmpty)
    #expect(try await store.digests.deep().record == before)
    #expect(try await store.contents().deleted.isEmpty)
    #expect(try await store.samples.typeCounts() == [TypeCount(type: type, samples: 5)])
    try await expectSound()
    #expect(try await refusal() == .noImport)
    #expect(try store.importExport(samples(3..<9)).total == .init(added: 4, unchanged: 2))
  }

  @Test func whatWasDeletedIsBack() async throws {
    try store.importExport(samples(0..<10))
    let before = try await store.digests.deep().record
    try store.importExport(samples(4..<12), snapshotOf: [type])
    let undo = try await undo()
    #expect(undo.removed == [type: 2])
    #expect(undo.restored == [type: 4])
    #expect(try await store.digests.deep().record == before)
    try await expectSound()
    // It is known to come from an export, as before.
    let written = try store.importExport(samples(4..<12), snapshotOf: [type])
    #expect(written.total == .init(added: 2, deleted: 4, unchanged: 6))
  }

  @Test func anotherPersonsNamesAreGone() async throws {
    try store.importExport(samples(0..<2))
    let other = ExportedSample(unit: "mmol<180>/L", source: "Ada's Watch", type: SampleType("another")).sample()
    try store.importExport([other])
    _ = try await undo()
    let path = fixture.directory.path("store.sqlite")
    if SQLiteShell.isAvailable {
      let rows = try await SQLiteShell.run(
        "SELECT COUNT(*) FROM source; SELECT COUNT(*) FROM type; SELECT COUNT(*) FROM unit; SELECT COUNT(*) FROM undo",
        on: path)
      #expect(rows == "1\n1\n1\n0")
    }
    try await expectSound()
    #expect(try store.importExport([other]).added == 1)
    #expect(try await store.samples.page(of: other.type, limit: 10) == [other])
  }

  @Test func oneThatChangesNothingLeavesTheOneBeforeToBeUndone() async throws {
    let again = ImportRecord.File(name: "again.zip")
    try store.importExport(samples(0..<5), file: .init(name: "a.zip"))
    let before = try await store.digests.deep().record
    try store.importExport(samples(4..<9), file: .init(name: "b.zip"), snapshotOf: [type])
    let digest = Data("again".utf8)
    do {
      let writer = try ImportWriter(store, again)
      try writer.write(try store.coder(samples(4..<9)))
      try writer.write(try store.coder(samples(0..<2)))
      #expect(writer.summary.total == .init(unchanged: 5, refused: 2))
      #expect(writer.journal == nil)
      try await store.imports.finish(writer.id, digest: digest, isComplete: true)
    }
    do {
      let writer = try ImportWriter(store, named: "copy.json")
      try writer.write(try store.coder(samples(4..<9)))
    }
    let undo = try await undo()
    #expect((undo.name, undo.removed[type], undo.restored[type]) == ("b.zip", 4, 4))
    #expect(try await store.digests.deep().record == before)
    // What it held is no longer all here.
    #expect(try await store.imports.finished(digest: digest) == nil)
    try await expectSound()
  }

  @Test func theFirstThatIsWrittenOfSeveralFilesIsUndoneWithWhatItChanges() async throws {
    let digest = Data("again".utf8)
    do {
      let writer = try ImportWriter(store, named: "copy.json")
      try writer.write(try store.coder(samples(0..<3)))
    }
    // Of the other there is nothing that would not be known.
    let id = try ImportWriter(store, .init(name: "empty.zip")).id
    try await store.imports.finish(id, digest: digest, isComplete: true)
    #expect(try await undo().name == "copy.json")
    #expect(try await store.imports.finished(digest: digest) == nil)
  }

  @Test func whatAnExportHasNewlySaidItHoldsIsAChange() async throws {
    try store.importExport(samples(0..<2))
    try await store.add(ExportedSample(minute: 3).sample())
    let all = samples(0..<4).filter { $0.start != ExportedSample(minute: 2).sample().start }
    try store.importExport(all, file: .init(name: "newer.zip"))
    #expect(try await undo().name == "newer.zip")
    #expect(try await refusal() == .noImport)
  }

  @Test func theSameFileCanBeImportedAgain() async throws {
    let digest = Data("a".utf8)
    let file = ImportRecord.File(name: "a", exported: Timestamp(seconds: 1_700_000_000), person: ["1986"])
    func bring() async throws {
      let writer = try ImportWriter(store, file)
      try writer.write(try store.coder(samples(0..<2)))
      try await store.imports.finish(writer.id, digest: digest, isComplete: true)
    }
    try await bring()
    #expect(try await store.imports.hasExports(ofOthersThan: ["1987"]))
    _ = try await undo()
    #expect(try await store.imports.finished(digest: digest) == nil)
    #expect(try await store.imports.newestExport() == nil)
    #expect(try await !store.imports.hasFinished())
    #expect(try await !store.imports.hasExports(ofOthersThan: ["1987"]))
    try await bring()
    #expect(try await store.imports.finished(digest: digest)?.name == "a")
  }

  @Test func namesAndTwinsAreAsBefore() async throws {
    let twins = { (values: [Double]) in
      TwinGroup(
        key: ExportedSample(minute: 50).key, samples: values.map { ExportedSample(minute: 50, value: $0).sample() })
    }
    try store.importExport((0..<10).map { ExportedSample(minute: $0, source: "Old").sample() })
    let keys = (0..<10).map { SampledRecord(key: ExportedSample(minute: $0, source: "New").key) }
    #expect(try await store.imports.identityNames(for: ["New": keys]) == ["New": "Old"])
    try store.importExport([], twins: [twins([1, 2])])
    _ = try await undo()
    // Numbered anew, since nobody knows the first ones.
    let again = twins([2, 3])
    try store.importExport([], twins: [again])
    let minute = again.samples[0].start
    let numbered = try await store.samples.page(of: type, in: minute..<Timestamp(microseconds: .max), limit: 10)
    #expect(Set(numbered.map(\.uuid)) == Set([0, 1].map(again.key.uuid(ordinal:))))
    if SQLiteShell.isAvailable {
      let path = fixture.directory.path("store.sqlite")
      #expect(try await SQLiteShell.run("SELECT COUNT(*) FROM sourceAlias", on: path) == "0")
    }
    #expect(try await store.imports.identityNames(for: ["New": keys], remembers: false) == ["New": "Old"])
  }

  @Test func severalExportsInOneFileAreOne() async throws {
    try store.importExport(samples(0..<3))
    let before = try await store.digests.deep().record
    let journal: Int64?
    do {
      let first = try ImportWriter(store, .init(name: "both.zip", person: ["1986"]))
      try first.write(try store.coder(samples(2..<6)))
      journal = first.journal
      try await store.imports.finish(first.id, digest: Data("1".utf8), isComplete: true)
    }
    do {
      let second = try ImportWriter(store, .init(name: "both.zip"), continuing: journal)
      try second.write(try store.coder(samples(4..<9)))
      try second.deleteMissing(of: [type])
      try await store.imports.finish(second.id, digest: Data("2".utf8), isComplete: true)
    }
    #expect(try await undo().removed == [type: 5])
    #expect(try await store.digests.deep().record == before)
    for digest in ["1", "2"] { #expect(try await store.imports.finished(digest: Data(digest.utf8)) == nil) }
  }

  @Test func anIdentityThatWasThereComesBack() async throws {
    func records(_ source: String, _ minutes: Range<Int>) -> [SampledRecord] {
      minutes.map { SampledRecord(key: ExportedSample(minute: $0, source: source).key) }
    }
    func bring(_ source: String, _ minutes: Range<Int>, as identity: String) throws {
      try store.importExport(minutes.map { ExportedSample(minute: $0, source: source).sample(identity: identity) })
    }
    try bring("A", 0..<10, as: "A")
    try bring("B", 20..<50, as: "B")
    #expect(try await store.imports.identityNames(for: ["C": records("C", 0..<10)]) == ["C": "A"])
    // Each with one that is new: what changes nothing is not undone.
    try bring("C", 0..<11, as: "A")
    #expect(try await store.imports.identityNames(for: ["C": records("C", 20..<50)]) == ["C": "B"])
    try bring("C", 20..<51, as: "B")
    _ = try await undo()
    // Nothing is known of these, so it keeps what it had.
    #expect(try await store.imports.identityNames(for: ["C": records("C", 80..<90)], remembers: false) == ["C": "A"])
  }

  @Test func filesThatAreNoExportsAreTakenBackToo() async throws {
    try store.importExport(samples(0..<3))
    let before = try await store.digests.deep().record
    do {
      let writer = try ImportWriter(store, named: "copy.json")
      var coder = ChangeCoder()
      coder.add(samples(0..<1)[0].tombstone())
      for sample in samples(2..<6) { try coder.add(sample) }
      try writer.write(coder.changes)
    }
    #expect(try await store.samples.typeCounts() == [TypeCount(type: type, samples: 5)])
    let undo = try await undo()
    #expect(undo.name == "copy.json")
    #expect(undo.removed == [type: 3])
    #expect(undo.restored == [type: 1])
    #expect(try await store.digests.deep().record == before)
  }

  @Test func aDryRunSaysTheSameAndChangesNothing() async throws {
    try store.importExport(samples(0..<5))
    try store.importExport(samples(2..<9), snapshotOf: [type])
    let before = try await (store.digests.deep().record, store.feed.currentAnchor(), store.audit.records())
    let tried = try await store.imports.undoLast(isDryRun: true)
    #expect(try await store.digests.deep().record == before.0)
    #expect(try await store.feed.currentAnchor() == before.1)
    #expect(try await store.audit.records() == before.2)
    #expect(try await store.imports.undoLast() == tried)
  }

  @Test func theAuditLogRemembers() async throws {
    try await store.audit.record(AuditEvent(.importStarted, ["file": "a.zip"]))
    try store.importExport(samples(0..<5), file: .init(name: "a.zip"))
    _ = try await undo()
    let records = try await store.audit.records()
    #expect(records.map(\.event) == ["import.started", "import.undone"])
    #expect(records.last?.detail == ["file": "a.zip", "removed": "5", "restored": "0"])
  }

  @Test func keptDigestsAreMadeAnew() async throws {
    try store.importExport(samples(0..<2_500))
    let before = try await store.digests.current().record
    try store.importExport(samples(2_000..<5_000), snapshotOf: [type])
    try await store.digests.keep()
    _ = try await undo()
    #expect(try await store.digests.current().record == before)
    try await store.digests.keep()
    #expect(try await store.digests.current().record == before)
    try await expectSound()
  }

  // MARK: What stands in the way

  @Test func whileAnImportRuns() async throws {
    try store.importExport(samples(0..<2))
    let other = try fixture.again()
    do {
      let writer = try ImportWriter(other, .init(name: "running"))
      #expect(try await refusal() == .running)
      withExtendedLifetime(writer) {}
    }
    #expect(try await undo().name == "export.zip")
  }

  @Test func betweenTheExportsOfOneFile() async throws {
    do {
      let lock = try fixture.again().imports.hold()
      try store.importExport(samples(0..<2))
      #expect(try await refusal() == .running)
      withExtendedLifetime(lock) {}
    }
    #expect(try await undo().name == "export.zip")
  }

  @Test func anImportThatWasUndoneGoesOnAsAnother() async throws {
    let first: Int64?
    do {
      let writer = try ImportWriter(store, .init(name: "both.zip"))
      try writer.write(try store.coder(samples(0..<1)))
      first = writer.journal
    }
    _ = try await undo()
    try store.importExport(samples(0..<2), file: .init(name: "other.zip"))
    do {
      let second = try ImportWriter(store, .init(name: "both.zip"), continuing: first)
      try second.write(try store.coder(samples(2..<5)))
      #expect(second.journal != first)
    }
    #expect(try await undo().removed == [type: 3])
    #expect(try await store.samples.typeCounts() == [TypeCount(type: type, samples: 2)])
  }

  @Test func anInterruptedImportIsTakenBackToo() async throws {
    try store.importExport(samples(0..<2))
    _ = try await undo()
    #expect(try await store.samples.typeCounts().isEmpty)
  }

  enum Later: CaseIterable {
    case deletion, addition, position, restoring, overlap
  }

  @Test(arguments: Later.allCases)
  func whatCameAfter(later: Later) async throws {
    try store.importExport(samples(0..<5))
    try store.importExport(samples(2..<9), file: .init(name: "b"), snapshotOf: [type])
    switch later {
    case .deletion:
      let range = Timestamp(microseconds: .min)..<samples(3..<4)[0].start
      _ = try await store.samples.delete(type, in: range) { AuditEvent(.deleted, ["count": "\($0)"]) }
    case .addition: try await store.add(samples(20..<21)[0])
    // All that came was here already, thanks to the import, and will not come again.
    case .position: try await store.apply(ChangeBatch(additions: samples(2..<9)), position: ("pull:a", "t"))
    case .restoring:
      let restorer = SampleRestorer(store, SampleFilter(types: [type], earliest: Timestamp(microseconds: 0)))
      try restorer.restore(try store.coder(samples(0..<1)))
    case .overlap:
      let first = try ImportWriter(store, .init(name: "a"))
      let second = try ImportWriter(store, .init(name: "b"))
      try second.write(try store.coder(samples(30..<32)))
      try first.write(try store.coder(samples(32..<34)))
      try second.write(try store.coder(samples(34..<36)))
      try first.write(try store.coder(samples(36..<38)))
      withExtendedLifetime(first) {}
    }
    let refusal = try await refusal()
    guard case .changedSince(later == .overlap ? "a" : "b", let events)? = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
    #expect(events.map(\.event) == (later == .deletion ? ["delete"] : []))
    // What was deleted is not kept any longer than it can come back.
    if later != .position, SQLiteShell.isAvailable {
      let kept = try await SQLiteShell.run(
        "SELECT COUNT(*) FROM undoSample", on: fixture.directory.path("store.sqlite"))
      #expect(kept == "0")
    }
  }

  @Test func anEarlierPositionIsNoObstacle() async throws {
    try await store.apply(ChangeBatch(additions: samples(0..<1)), position: ("pull:a", "t"))
    try store.importExport(samples(0..<5))
    _ = try await undo()
    #expect(try await store.feed.position(of: "pull:a") == "t")
  }

  // MARK: Peers

  /// - Parameter streams: The number of answers of more than a page that end with this read.
  private func read(
    from: Int64, to: Int64?, count: Int, streams: Int = 0, by name: String = "laptop"
  ) async throws {
    var detail = ["peer": name, "id": name, "from": String(from), "count": String(count)]
    if streams > 0 { detail["streams"] = String(streams) }
    detail["to"] = to.map { String($0) }
    try await store.audit.record(AuditEvent(.dataRead, detail))
  }

  private func read(_ detail: [String: String] = [:]) -> AuditRead {
    AuditRead(AuditEvent(.dataRead, detail), by: "laptop", at: .init(session: 1, elapsed: 0, minute: 0))
  }

  private func begin(from: Int64, by name: String = "laptop") async throws {
    try await store.audit.record(AuditEvent(.readStarted, ["peer": name, "id": name, "from": String(from)]))
  }

  @Test func peersThatHaveItAreNamed() async throws {
    try store.importExport(samples(0..<5))
    try await read(from: 0, to: 5, count: 5, by: "before")
    try store.importExport(samples(5..<9), file: .init(name: "b"))
    try await read(from: 0, to: 5, count: 5, by: "behind")
    try await read(from: 5, to: 9, count: 0, by: "sees none of it")
    try await read(from: 5, to: 9, count: 4, by: "laptop")
    try await read(from: 0, to: nil, count: 4, by: "Mac")
    #expect(try await refusal() == .read(name: "b", peers: ["Mac", "laptop"]))
    #expect(try await store.samples.typeCounts() == [TypeCount(type: type, samples: 9)])
  }

  @Test func whoseReadingIsNotAtItsEndHasIt() async throws {
    try await store.audit.record(AuditEvent(.serverStarted))
    try await begin(from: 0, by: "a")
    try await begin(from: 0, by: "b")
    try store.importExport(samples(0..<5), file: .init(name: "b"))
    try await begin(from: 0, by: "c")
    try await read(from: 0, to: 0, count: 0, streams: 1, by: "b")
    #expect(try await refusal() == .read(name: "b", peers: ["a", "c"]))
  }

  /// Reads that are counted per minute also belong to a reader.
  @Test(arguments: [false, true])
  func whoeverIsCountedAsAReaderIsNamed(isSealed: Bool) async throws {
    func access(_ name: AuditEvent.Name, _ detail: [String: String], at elapsed: Int64) async throws {
      let event = AuditEvent(name, detail.merging(["peer": "laptop", "id": "laptop"]) { $1 })
      try await store.audit.record(AuditRead(event, by: "laptop", at: .init(session: 1, elapsed: elapsed)))
    }
    // Three that are over, one of which nothing but the count has.
    for time in [0, 10, 20] as [Int64] { try await access(.readStarted, ["from": "\(time)"], at: time) }
    for time in [30, 40, 50] as [Int64] {
      try await access(.dataRead, ["from": "\(time - 30)", "count": "1", "to": "0", "streams": "1"], at: time)
    }
    try store.importExport(samples(0..<5), file: .init(name: "b"))
    if isSealed { try await store.audit.record(AuditEvent(.peerRenamed)) }
    #expect(try await store.imports.undoLast(isDryRun: true) != .refused(.read(name: "b", peers: ["laptop"])))
    try await access(.dataRead, ["from": "0", "count": "0", "to": "9"], at: 60)
    try await access(.dataRead, ["from": "0", "count": "4", "to": "4"], at: 70)
    if isSealed { try await store.audit.record(AuditEvent(.peerRenamed)) }
    #expect(try await refusal() == .read(name: "b", peers: ["laptop"]))
  }

  @Test func whatAServerBeganThatHasEndedIsAtItsEnd() async throws {
    try await begin(from: 0)
    try await store.audit.record(AuditEvent(.serverStarted))
    try store.importExport(samples(0..<5))
    #expect(try await undo().removed == [type: 5])
  }

  @Test func aPrunedLogTellsNothing() async throws {
    try store.importExport(samples(0..<5), file: .init(name: "b"))
    try await read(from: 0, to: 5, count: 5)
    _ = try await store.audit.prune(
      olderThan: 0, clock: .isTrusted, now: Timestamp(seconds: 4_000_000_000))
    #expect(try await refusal() == .unknownReaders(name: "b"))
  }

  @Test func whatWasTakenBackIsNotSentAnyMore() async throws {
    try store.importExport(samples(0..<5))
    let page = try await store.feed.codedChanges(since: .zero, limit: 100)
    let event = read(["peer": "laptop", "count": "5", "to": "5"])
    _ = try await undo()
    await #expect(throws: StoreError.anchorOutOfRange) {
      try await store.audit.record(event, at: (page.anchor, page.epoch), read: page.anchor)
    }
    // Nor if as much has come since.
    try await store.add(samples(10..<11)[0])
    try store.importExport(samples(20..<30))
    await #expect(throws: StoreError.anchorOutOfRange) {
      try await store.audit.record(event, at: (page.anchor, page.epoch), read: page.anchor)
    }
    #expect(try await store.audit.records().count == 1)
  }

  @Test(.enabled(if: SQLiteShell.isAvailable))
  func whatAPeerHasIsNotKept() async throws {
    try store.importExport(samples(0..<5))
    try store.importExport(samples(2..<9), snapshotOf: [type])
    let path = fixture.directory.path("store.sqlite")
    #expect(try await SQLiteShell.run("SELECT COUNT(*) FROM undoSample", on: path) == "2")
    let page = try await store.feed.codedChanges(since: .zero, limit: 100)
    let position = (anchor: page.anchor, epoch: page.epoch)
    try await store.audit.record(read(), at: position, read: nil)
    #expect(try await SQLiteShell.run("SELECT COUNT(*) FROM undoSample", on: path) == "2")
    try await store.audit.record(read(), at: position, read: page.anchor)
    #expect(try await SQLiteShell.run("SELECT COUNT(*) FROM undoSample", on: path) == "0")
  }

  @Test func aReaderPastItStartsOver() async throws {
    try store.importExport(samples(0..<5))
    let early = try await store.feed.changes(since: .zero, limit: 100)
    try store.importExport(samples(5..<9))
    let late = try await store.feed.changes(since: early.anchor, epoch: early.epoch, limit: 100)
    _ = try await undo()
    #expect(try await store.feed.changes(since: early.anchor, epoch: early.epoch, limit: 100).changes.isEmpty)
    await #expect(throws: StoreError.anchorOutOfRange) {
      try await store.feed.changes(since: late.anchor, epoch: late.epoch, limit: 100)
    }
    // Also when the numbers are reached again, by whomever.
    let other = try fixture.again()
    for minute in 20..<40 { try await (minute % 2 == 0 ? store : other).add(samples(minute..<minute + 1)[0]) }
    await #expect(throws: StoreError.anchorOutOfRange) {
      try await store.feed.changes(since: late.anchor, epoch: late.epoch, limit: 100)
    }
    #expect(try await store.feed.changes(since: early.anchor, epoch: early.epoch, limit: 100).changes.count == 20)
  }
}

extension HealthStore {
  fileprivate func coder(_ samples: [Sample]) throws -> CodedChanges {
    var coder = ChangeCoder()
    for sample in samples { try coder.add(sample) }
    return coder.changes
  }
}
