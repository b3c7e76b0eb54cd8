import ExternalStores
import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

/// Tests of the order of calls, on which ports of programs for HealthDataSync rely.
@Suite("the order of calls", .timeLimit(.minutes(5)))
struct CallOrderTests {
  private let directory: TemporaryDirectory
  private let record: HealthStore
  private let samples: [Sample]
  private let names: [UUID: String]

  private struct Refusal: Error, CustomStringConvertible { var description: String { "refused" } }

  init() async throws {
    directory = try TemporaryDirectory()
    record = try HealthStore(directory: directory.path("home"))
    var maker = SampleMaker(seed: 162)
    samples = (0..<60).map { maker.steps(at: $0) }
    names = Dictionary(uniqueKeysWithValues: samples.enumerated().map { ($1.uuid, "\($0)") })
  }

  private func add(_ range: Range<Int>) async throws {
    try await record.apply(ChangeBatch(additions: Array(samples[range])))
  }

  private func deletion(_ index: Int) -> Tombstone { Tombstone(sample: samples[index].reference, deleted: .now) }

  /// A synchronizer that records its calls in the store's list.
  private struct Noting: ObjectSynchronizer, QueryObserverDelegate {
    let store: NotingStore
    let externalObjectType: any ExternalObject.Type = StepRow.self
    var externalStore: any ExternalStore { store }
    let converter: (any ExternalObjectConverter)? = nil

    func willSynchronize(objects: [Sample], deletedObjects: [Tombstone]) {
      store.note("will \(objects.count) \(deletedObjects.count)")
    }
    func willFinishSynchronizing(after error: (any Error)?) { store.note(error.map { "after \($0)" } ?? "after") }
    func shouldExecute(for observer: QueryObserver) -> Bool {
      store.note("should")
      return true
    }
    func didFinishExecution(for observer: QueryObserver, error: (any Error)?) {
      store.note(error.map { "did \($0)" } ?? "did")
    }
  }

  private func observer(_ noting: Noting) throws -> QueryObserver {
    try QueryObserver(store: record, synchronizer: noting, delegate: noting)
  }

  @Test("of a batch: asked, begun, deleted, added, updated, ended, told")
  func wholeBatch() async throws {
    let noting = Noting(store: NotingStore(names: names))
    let observer = try observer(noting)
    try await add(0..<4)
    try await observer.execute()
    // Everything comes again, with a deletion of what it has, one of what it never had, and what is new.
    try await observer.reset()
    try await record.apply(ChangeBatch(additions: [samples[4]], deletions: [deletion(1), deletion(9)]))
    noting.store.forgetNotes()
    try await observer.execute()
    #expect(
      noting.store.notes == [
        "should", "will 4 2", "fetch 1 9", "delete 1", "fetch 0 2 3 4", "add 4", "update 0 2 3", "after", "did",
      ])
  }

  @Test("one question and one end for all batches, and deletions count towards the 25")
  func batches() async throws {
    let noting = Noting(store: NotingStore(names: names))
    let observer = try observer(noting)
    try await add(0..<30)
    try await record.apply(ChangeBatch(additions: Array(samples[30..<60]), deletions: (0..<10).map(deletion)))
    try await observer.execute()
    let notes = noting.store.notes
    #expect(notes.count { $0 == "should" } == 1 && notes.count { $0 == "did" } == 1)
    #expect(notes.first == "should" && notes.last == "did")
    let sizes = notes.filter { $0.hasPrefix("will") }.map { note in
      note.split(separator: " ").compactMap { Int($0) }.reduce(0, +)
    }
    #expect(sizes == [25, 25, 10])
  }

  private static let failures: [(call: String, notes: [String])] = [
    ("fetch 1", ["should", "will 2 1", "fetch 1", "after refused", "did refused"]),
    ("delete 1", ["should", "will 2 1", "fetch 1", "delete 1", "after refused", "did refused"]),
    ("fetch 0 2", ["should", "will 2 1", "fetch 1", "delete 1", "fetch 0 2", "after refused", "did refused"]),
    ("add 2", ["should", "will 2 1", "fetch 1", "delete 1", "fetch 0 2", "add 2", "after refused", "did refused"]),
    (
      "update 0",
      [
        "should", "will 2 1", "fetch 1", "delete 1", "fetch 0 2", "add 2", "update 0", "after refused", "did refused",
      ]
    ),
  ]

  @Test("what fails ends the batch at once, the end is told, and the same batch comes again", arguments: failures)
  func failure(of call: String, notes: [String]) async throws {
    let isRefusing = RefusingOnce()
    let noting = Noting(
      store: NotingStore(names: names) { note in if note == call, isRefusing.refuses() { throw Refusal() } })
    let observer = try observer(noting)
    try await add(0..<2)
    try await observer.execute()
    try await observer.reset()
    try await record.apply(ChangeBatch(additions: [samples[2]], deletions: [deletion(1)]))
    isRefusing.begin()
    noting.store.forgetNotes()
    await #expect(throws: Refusal.self) { try await observer.execute() }
    #expect(noting.store.notes == notes)
    noting.store.forgetNotes()
    try await observer.execute()
    #expect(noting.store.notes.first == "should" && noting.store.notes.dropFirst().first == "will 2 1")
    #expect(noting.store.uuids == [samples[0].uuid, samples[2].uuid])
  }

  @Test("an id that is deleted and added in one batch is deleted first")
  func deletedAndAdded() async throws {
    let noting = Noting(store: NotingStore(names: names))
    try await noting.synchronize(objects: [samples[0]], deletedObjects: [])
    noting.store.forgetNotes()
    try await noting.synchronize(objects: [samples[0]], deletedObjects: [deletion(0)])
    #expect(noting.store.notes == ["will 1 1", "fetch 0", "delete 0", "fetch 0", "add 0", "after"])
    #expect(noting.store.uuids == [samples[0].uuid])
  }

  @Test("two types in one store have a position each: one that fails does not hold up the other")
  func twoTypes() async throws {
    var floor = samples[50]
    floor.type = FloorRow.type
    let refused = samples[0].uuid
    let isRefusing = RefusingOnce()
    let store = NotingStore(names: names) { note in
      if note.hasPrefix("add"), !note.contains("50"), isRefusing.refuses() { throw Refusal() }
    }
    isRefusing.begin()
    let manager = ExternalStoreManager(store: record)
    try await manager.addObjectTypes([StepRow.self, FloorRow.self], externalStore: store)
    #expect(Set(await manager.allObservers.map(\.name)).count == 2)
    try await record.apply(ChangeBatch(additions: [samples[0], floor]))
    await #expect(throws: Refusal.self) { try await manager.execute() }
    #expect(store.uuids == [floor.uuid])
    store.forgetNotes()
    try await manager.execute()
    #expect(store.uuids == [floor.uuid, refused])
    #expect(store.notes == ["fetch 0", "add 0"])
  }

  @Test("calls of one observer are one at a time, however often it is asked")
  func serial() async throws {
    let noting = Noting(store: NotingStore(names: names))
    let observer = try observer(noting)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await observer.observe() }
      for index in 0..<12 {
        try await add(index * 5..<index * 5 + 5)
        group.addTask { _ = try await observer.execute() }
      }
      while noting.store.uuids.count < 60 { await Task.yield() }
      group.cancelAll()
    }
    #expect(noting.store.mostAtOnce == 1)
    #expect(noting.store.uuids == Set(names.keys))
    #expect(noting.store.notes.allSatisfy { !$0.hasPrefix("update") })
  }
}
