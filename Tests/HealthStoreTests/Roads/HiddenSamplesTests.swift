import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests that the counts stay right when samples that are hidden behind others are removed.
@Suite struct HiddenSamplesTests {
  private let fixture: StoreFixture
  private var store: HealthStore { fixture.store }
  private let type = ExportedSample().type
  private let exported = (0..<40).map { ExportedSample(minute: $0).sample() }
  private let told = (0..<40).map { ExportedSample(minute: $0).original() }

  /// Creates a store in which an app's samples are all hidden behind an export's.
  init() async throws {
    fixture = try StoreFixture()
    try store.importExport(exported)
    try await store.apply(ChangeBatch(additions: told))
    try await store.expectTrueCounts("told")
  }

  private func expectSound(_ step: Comment, shown: Int) async throws {
    #expect(try await store.samples.page(of: type, limit: 100).count == shown, step)
    try await store.expectTrueCounts(step)
    #expect(try await HealthStore.checkIntegrity(directory: fixture.directory.path).findings == [], step)
  }

  @Test func whatIsDeletedTakesItsHiddenTwinsAlong() async throws {
    let first = exported[0].start, middle = exported[20].start
    #expect(try await store.samples.delete(type, in: first..<middle) == 20)
    try await expectSound("deleted", shown: 20)
    // Also what was left can be named, and deleted.
    #expect(try await store.samples.delete(type, in: middle..<Timestamp(microseconds: .max)) == 20)
    try await expectSound("all deleted", shown: 0)
  }

  @Test func anImportThatIsTakenBackTakesItsOwnAlong() async throws {
    let more = (40..<60).map { ExportedSample(minute: $0) }
    try await store.apply(ChangeBatch(additions: more.map { $0.original() }))
    try store.importExport(more.map { $0.sample() } + exported)
    try await expectSound("imported", shown: 60)
    guard case .undone = try await store.imports.undoLast() else {
      Issue.record("not undone")
      return
    }
    try await expectSound("undone", shown: 60)
  }

  @Test func aPeersDeletionsTakeHiddenOnesAlong() async throws {
    try await store.apply(ChangeBatch(deletions: told[..<10].map { $0.tombstone() }))
    try await store.apply(ChangeBatch(deletions: exported[5..<15].map { $0.tombstone() }))
    // What is deleted on one road is gone on the other.
    try await expectSound("deleted", shown: 25)
  }
}
