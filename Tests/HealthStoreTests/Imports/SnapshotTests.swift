import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests of samples that are missing in a later export of the same person.
@Suite struct SnapshotTests {
  let fixture: StoreFixture
  var store: HealthStore { fixture.store }
  private let type = ExportedSample().type

  init() throws { fixture = try StoreFixture() }

  private func samples(_ minutes: Range<Int>) -> [Sample] { minutes.map { ExportedSample(minute: $0).sample() } }

  @Test func deletesWhatAnEarlierExportHad() async throws {
    try store.importExport(samples(0..<10))
    let written = try store.importExport(samples(2..<12), snapshotOf: [type])
    #expect(written.total == .init(added: 2, deleted: 2, unchanged: 8))
    #expect(Set(try await store.samples.page(of: type, limit: 100)) == Set(samples(2..<12)))
    #expect(try await store.contents().deleted == Set(samples(0..<2).map(\.reference)))
  }

  @Test func sparesWhatNoExportHad() async throws {
    let original = ExportedSample(minute: 50).original()
    let pulled = ExportedSample(minute: 51).sample()
    try await store.add(original, pulled)
    try store.importExport(samples(0..<3))
    try store.importExport(samples(1..<3), snapshotOf: [type])
    #expect(Set(try await store.samples.page(of: type, limit: 100)) == Set([original, pulled] + samples(1..<3)))
  }

  @Test func whatWasPulledAndThenExportedCounts() async throws {
    try await store.apply(ChangeBatch(additions: samples(0..<5)))
    try store.importExport(samples(0..<5))
    #expect(try store.importExport(samples(0..<4), snapshotOf: [type]).deleted == 1)
  }

  @Test func sparesTypesThatTheExportLacks() async throws {
    let other = ExportedSample(type: SampleType("HKQuantityTypeIdentifierBodyMass"))
    try store.importExport(samples(0..<3) + [other.sample()])
    let written = try store.importExport(samples(0..<3), snapshotOf: [type])
    #expect(written.deleted == 0)
    #expect(try await store.samples.page(of: other.type, limit: 10).count == 1)
  }

  @Test func isToldBeforeItIsDone() throws {
    try store.importExport(samples(0..<100))
    let writer = try ImportWriter(store, .init(name: "later"))
    var coder = ChangeCoder()
    for sample in samples(10..<110) { try coder.add(sample) }
    try writer.write(coder.changes)
    let missing = try writer.missing(of: [type])
    #expect(missing.counts == [type: 10])
    #expect(missing.share == 0.1)
    #expect(missing.wholeTypes.isEmpty)
  }

  @Test func aWholeTypeIsToldApart() throws {
    try store.importExport(samples(0..<10))
    let writer = try ImportWriter(store, .init(name: "later"))
    var coder = ChangeCoder()
    for sample in samples(50..<60) { try coder.add(sample) }
    try writer.write(coder.changes)
    #expect(try writer.missing(of: [type]).wholeTypes == [type])
  }

  @Test(arguments: 0..<20)
  func anyTwoExportsEndAsTheLater(seed: UInt64) async throws {
    let type = type
    var random = SeededGenerator(seed: seed)
    let minutes = Array(0..<60)
    for _ in 0..<6 {
      let held = minutes.shuffled(using: &random).prefix(Int.random(in: 1...60, using: &random))
      let there = Set(try await store.samples.page(of: type, limit: 100).map(\.reference))
      let tombstones = try await store.contents().deleted
      let file = held.map { ExportedSample(minute: $0).sample() }
      try store.importExport(file, snapshotOf: [type])
      let expected = Set(file.map(\.reference)).subtracting(tombstones)
      #expect(Set(try await store.samples.page(of: type, limit: 100).map(\.reference)) == expected, "seed \(seed)")
      #expect(try await store.contents().deleted == tombstones.union(there.subtracting(expected)), "seed \(seed)")
    }
  }

  @Test func filesAndPeopleAreKnownAgain() async throws {
    let digest = Data("a".utf8)
    let file = ImportRecord.File(
      name: "export.zip", exported: Timestamp(seconds: 1_700_000_000), person: ["1970-01-01"])
    #expect(try await store.imports.finished(digest: digest) == nil)
    let cutOff = try ImportWriter(store, file)
    try cutOff.write(CodedChanges())
    #expect(try await store.imports.finished(digest: digest) == nil)
    #expect(try await store.imports.newestExport() == nil)
    try await store.imports.finish(cutOff.id, digest: digest, isComplete: true)
    #expect(try await store.imports.hasFinished())
    #expect(try await store.imports.finished(digest: digest)?.name == "export.zip")
    #expect(try await store.imports.newestExport()?.exported == file.exported)
    #expect(try await !store.imports.hasExports(ofOthersThan: ["1970-01-01"]))
    #expect(try await store.imports.hasExports(ofOthersThan: ["1980-01-01"]))
  }
}
