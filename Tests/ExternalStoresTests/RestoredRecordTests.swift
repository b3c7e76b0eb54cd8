import ExternalStores
import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

/// Tests of a record that was restored from an older copy, and so doesn't know what was delivered since.
@Suite("a record that was put back", .timeLimit(.minutes(5)))
struct RestoredRecordTests {
  private let directory: TemporaryDirectory
  private let samples: [Sample]

  init() throws {
    directory = try TemporaryDirectory()
    var maker = SampleMaker(seed: 163)
    samples = (0..<20).map { maker.steps(at: $0) }
  }

  private func uuids(_ ranges: Range<Int>...) -> Set<UUID> { Set(ranges.joined().map { samples[$0].uuid }) }

  private func observer(_ record: HealthStore, _ store: NotingStore) throws -> QueryObserver {
    try QueryObserver(
      store: record, synchronizer: TypeSynchronizer(externalObjectType: StepRow.self, externalStore: store))
  }

  /// Delivers 0..<4, copies the record, delivers 4..<6, restores the copy and adds 10..<13 to it.
  private func restored(_ store: NotingStore) async throws -> HealthStore {
    let (home, copy) = (directory.path("home"), directory.path("copy"))
    do {
      let record = try HealthStore(directory: home)
      try await record.apply(ChangeBatch(additions: Array(samples[0..<4])))
      try await observer(record, store).execute()
      try FileManager.default.copyItem(atPath: home, toPath: copy)
      try await record.apply(ChangeBatch(additions: Array(samples[4..<6])))
      try await observer(record, store).execute()
      #expect(store.uuids == uuids(0..<6))
    }
    let record = try HealthStore(directory: copy)
    try await record.apply(ChangeBatch(additions: Array(samples[10..<13])))
    store.forgetNotes()
    return record
  }

  @Test("a store that keeps receipts forgets everything first, once, and has what the record has")
  func withReceipts() async throws {
    let store = NotingStore(keepsReceipts: true)
    let record = try await restored(store)
    try await observer(record, store).execute()
    #expect(store.notes.first == "forget StepRow")
    #expect(store.notes.count { $0.hasPrefix("forget") } == 1)
    #expect(store.uuids == uuids(0..<4, 10..<13))
    // And goes on from there.
    store.forgetNotes()
    try await record.apply(ChangeBatch(additions: [samples[13]]))
    try await observer(record, store).execute()
    #expect(store.notes == ["fetch \(samples[13].uuid)", "add \(samples[13].uuid)"])
  }

  @Test("only objects of the type that is followed are forgotten")
  func otherTypes() async throws {
    let store = NotingStore(keepsReceipts: true)
    let floor = FloorRow(uuid: UUID())
    try await store.add(objects: [floor])
    let record = try await restoredBeside(store, floor)
    try await observer(record, store).execute()
    #expect(store.uuids == uuids(0..<4, 10..<13).union([floor.uuid]))
  }

  private func restoredBeside(_ store: NotingStore, _ floor: FloorRow) async throws -> HealthStore {
    try await store.delete(deletedObjects: [floor])
    let record = try await restored(store)
    try await store.add(objects: [floor])
    store.forgetNotes()
    return record
  }

  @Test("a store that was put back itself is given everything anew")
  func storePutBack() async throws {
    let store = NotingStore(keepsReceipts: true)
    let record = try HealthStore(directory: directory.path("home"))
    try await record.apply(ChangeBatch(additions: Array(samples[0..<4])))
    try await observer(record, store).execute()
    let old = try #require(await store.receipt(of: StepRow.self))
    for range in [4..<8, 8..<10] {
      try await record.apply(ChangeBatch(additions: Array(samples[range])))
      try await observer(record, store).execute()
    }
    // Its backup had 0..<4, and the receipt of then.
    try await store.delete(deletedObjects: samples[4..<10].map { StepRow(uuid: $0.uuid) })
    await store.keepReceipt(old, of: StepRow.self)
    try await observer(record, store).execute()
    #expect(store.uuids == uuids(0..<10))
  }

  @Test("killed between the receipt and the position: the batch comes again, and nothing is forgotten")
  func killed() async throws {
    let home = directory.path("home")
    let copy = directory.path("copy")
    let store = NotingStore(keepsReceipts: true)
    let record = try HealthStore(directory: home)
    try await record.apply(ChangeBatch(additions: Array(samples[0..<4])))
    try await observer(record, store).execute()
    try await record.apply(ChangeBatch(additions: Array(samples[4..<6])))
    try FileManager.default.copyItem(atPath: home, toPath: copy)
    try await observer(record, store).execute()
    store.forgetNotes()
    // The copy is what the record is where the position was not kept.
    let again = try HealthStore(directory: copy)
    try await observer(again, store).execute()
    #expect(store.notes.allSatisfy { !$0.hasPrefix("forget") && !$0.hasPrefix("add") })
    #expect(store.uuids == uuids(0..<6))
  }

  @Test("a store without receipts keeps what only the other record had")
  func withoutReceipts() async throws {
    let store = NotingStore()
    let record = try await restored(store)
    try await observer(record, store).execute()
    #expect(store.notes.allSatisfy { !$0.hasPrefix("forget") })
    #expect(store.uuids == uuids(0..<6, 10..<13))
  }
}
