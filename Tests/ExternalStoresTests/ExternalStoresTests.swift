import ExternalStores
import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

@Suite("external stores", .timeLimit(.minutes(5)))
struct ExternalStoresTests {
  private let directory: TemporaryDirectory
  private let record: HealthStore
  private let samples: [Sample]

  private struct Refusal: Error, CustomStringConvertible { var description: String { "refused" } }

  init() async throws {
    directory = try TemporaryDirectory()
    record = try HealthStore(directory: directory.path("home"))
    var maker = SampleMaker(seed: 16)
    samples = (0..<60).map { maker.steps(at: $0) }
  }

  private func add(_ range: Range<Int>) async throws {
    try await record.apply(ChangeBatch(additions: Array(samples[range])))
  }

  private func delete(_ index: Int) async throws {
    try await record.apply(ChangeBatch(deletions: [Tombstone(sample: samples[index].reference, deleted: .now)]))
  }

  private func observer(
    _ store: ScriptedStore, _ delegate: ScriptedDelegate? = nil, clock: (any Clock<Duration>)? = nil
  ) throws -> QueryObserver {
    try QueryObserver(
      store: record, synchronizer: TypeSynchronizer(externalObjectType: StepRow.self, externalStore: store),
      delegate: delegate, clock: clock ?? ContinuousClock())
  }

  private func uuids(_ indices: some Sequence<Int>) -> Set<UUID> { Set(indices.map { samples[$0].uuid }) }

  @Test("batches of 25, deletions first, and each change once")
  func batches() async throws {
    try await add(0..<60)
    let store = ScriptedStore()
    let observer = try observer(store)
    #expect(try await observer.lastSuccessfulExecutionDate == nil)
    #expect(try await observer.execute())
    #expect(store.seen.calls == [.fetch(25), .add(25), .fetch(25), .add(25), .fetch(10), .add(10)])
    #expect(Set(store.rows.keys) == uuids(0..<60))
    #expect(try await observer.lastSuccessfulExecutionDate != nil)
    store.forgetCalls()
    try await delete(3)
    try await observer.execute()
    #expect(store.seen.calls == [.fetch(1), .delete(1)])
    // What it never had is not deleted there.
    try await record.apply(
      ChangeBatch(deletions: [
        Tombstone(sample: SampleReference(type: samples[0].type, start: samples[0].start, uuid: UUID()), deleted: .now)
      ]))
    store.forgetCalls()
    try await observer.execute()
    #expect(store.seen.calls == [.fetch(1)])
    store.forgetCalls()
    try await observer.execute()
    #expect(store.seen.calls == [])
  }

  @Test("everything again: what is there is updated, and nothing is there twice")
  func again() async throws {
    try await add(0..<10)
    let store = ScriptedStore()
    let observer = try observer(store)
    try await observer.execute()
    try await observer.reset()
    try await add(10..<15)
    store.forgetCalls()
    try await observer.execute()
    #expect(store.seen.calls == [.fetch(15), .add(5), .update(10)])
    #expect(store.seen.doubles == 0 && store.rows.count == 15)
  }

  @Test("one id deleted and added in one batch is there afterwards")
  func deletedAndAdded() async throws {
    let store = ScriptedStore()
    let synchronizer = TypeSynchronizer(externalObjectType: StepRow.self, externalStore: store)
    try await synchronizer.synchronize(objects: [samples[0]], deletedObjects: [])
    store.forgetCalls()
    try await synchronizer.synchronize(
      objects: [samples[0]], deletedObjects: [Tombstone(sample: samples[0].reference, deleted: .now)])
    #expect(store.seen.calls == [.fetch(1), .delete(1), .fetch(1), .add(1)])
    #expect(Set(store.rows.keys) == uuids([0]))
  }

  @Test("what fails comes again: nothing is lost, and nothing is added twice", arguments: 0..<7)
  func failures(atCall number: Int) async throws {
    try await add(0..<60)
    let store = ScriptedStore { _, call in if call == number { throw Refusal() } }
    let delegate = ScriptedDelegate()
    let observer = try observer(store, delegate)
    if number < 6 {
      await #expect(throws: Refusal.self) { try await observer.execute() }
      #expect(delegate.ends == ["refused"])
    }
    try await observer.execute()
    #expect(delegate.ends.last == .some(nil))
    #expect(store.seen.doubles == 0 && Set(store.rows.keys) == uuids(0..<60))
  }

  @Test("an answer that is lost: what arrived is updated")
  func lostAnswer() async throws {
    try await add(0..<5)
    let store = ScriptedStore()
    let lost = LosingStore(store)
    let observer = try QueryObserver(
      store: record, synchronizer: TypeSynchronizer(externalObjectType: StepRow.self, externalStore: lost))
    await #expect(throws: LosingStore.Lost.self) { try await observer.execute() }
    try await observer.execute()
    #expect(store.seen.doubles == 0 && store.rows.count == 5)
    #expect(store.seen.calls == [.fetch(5), .add(5), .fetch(5), .update(5)])
  }

  @Test("changes that come while it runs do not stall it")
  func changesWhileRunning() async throws {
    let (running, runs) = AsyncStream.makeStream(of: Void.self)
    let gate = ManualClock()
    let store = ScriptedStore { call, number in
      guard case .add = call, number < 2 else { return }
      runs.yield()
      try await gate.sleep(for: .seconds(1))
    }
    let delegate = ScriptedDelegate(batchSize: 1)
    let observer = try observer(store, delegate)
    try await add(0..<1)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await observer.observe() }
      _ = await running.first { _ in true }
      // Four notifications queue while the first is worked on.
      for index in 1..<5 { try await add(index..<index + 1) }
      gate.advance(by: .seconds(1))
      for await _ in delegate.ended where store.rows.count == 5 { break }
      try await delete(2)
      for await _ in delegate.ended where store.rows.count == 4 { break }
      group.cancelAll()
    }
    #expect(Set(store.rows.keys) == uuids([0, 1, 3, 4]))
    #expect(store.seen.doubles == 0)
  }

  @Test("while observing, what fails is tried again after pauses that grow")
  func retries() async throws {
    try await add(0..<3)
    let clock = ManualClock()
    let store = ScriptedStore { _, number in if number < 3 { throw Refusal() } }
    let delegate = ScriptedDelegate()
    let observer = try observer(store, delegate, clock: clock)
    await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await observer.observe() }
      var ends = 0
      for await end in delegate.ended {
        if end == nil { break }
        ends += 1
        while clock.sleepers == 0 { await Task.yield() }
        clock.advance(by: .seconds(ends == 1 ? 1 : ends == 2 ? 2 : 4))
      }
      group.cancelAll()
    }
    #expect(delegate.ends == ["refused", "refused", "refused", nil])
    #expect(store.rows.count == 3)
  }

  @Test("the delegate may say no: it comes with the next change")
  func veto() async throws {
    try await add(0..<2)
    let store = ScriptedStore()
    let delegate = ScriptedDelegate()
    let observer = try observer(store, delegate)
    delegate.setMayExecute(false)
    #expect(try await observer.execute() == false)
    #expect(store.seen.calls == [] && delegate.ends == ["\(ExternalStoreError.operationCancelled)"])
    delegate.setMayExecute(true)
    try await add(2..<3)
    #expect(try await observer.execute())
    #expect(store.rows.count == 3)
  }

  @Test("a type in two stores, each with a position of its own; a second time it is not added")
  func twoStores() async throws {
    try await add(0..<4)
    let (one, other) = (
      ScriptedStore("one"), ScriptedStore("other") { _, number in if number == 0 { throw Refusal() } }
    )
    let manager = ExternalStoreManager(store: record)
    try await manager.addObjectTypes([StepRow.self, StepRow.self], externalStore: one)
    try await manager.addObjectTypes([StepRow.self], externalStore: other)
    try await manager.addObjectTypes([StepRow.self], externalStore: one)
    #expect(await manager.allObservers.count == 2)
    await #expect(throws: Refusal.self) { try await manager.execute() }
    #expect(one.rows.count == 4 && other.rows.isEmpty)
    try await manager.execute()
    #expect(other.rows.count == 4)
    #expect(one.seen.calls == [.fetch(4), .add(4)])
    let observer = try #require(await manager.allObservers.first)
    #expect(try await manager.sources(for: observer) == Set(samples[..<4].map(\.source.name)))
  }

  @Test("observing begins and ends with a call, and goes on where it was")
  func startAndStop() async throws {
    try await add(0..<4)
    let (store, delegate) = (ScriptedStore(), ScriptedDelegate())
    let manager = ExternalStoreManager(store: record, observerDelegate: delegate)
    try await manager.addObjectTypes([StepRow.self], externalStore: store)
    try await manager.stopObserving()
    await manager.startObserving()
    await manager.startObserving()
    for await _ in delegate.ended where store.rows.count == 4 { break }
    try await manager.stopObserving()
    try await add(4..<6)
    #expect(store.rows.count == 4)
    store.forgetCalls()
    await manager.startObserving()
    for await _ in delegate.ended where store.rows.count == 6 { break }
    try await manager.stopObserving()
    #expect(store.seen.calls == [.fetch(2), .add(2)])
  }

  @Test("a converter reaches all objects, and what it cannot convert fails the batch")
  func converter() async throws {
    struct Doubling: ExternalObjectConverter {
      func convert<Result>(object: Sample) throws -> Result {
        guard case .quantity(let quantity) = object.payload, let result = quantity.value * 2 as? Result else {
          throw ExternalStoreError.notSupported
        }
        return result
      }
      func convert<Result>(deletedObject: Tombstone) throws -> Result { throw ExternalStoreError.notSupported }
    }
    try await add(0..<2)
    let store = ScriptedStore()
    let manager = ExternalStoreManager(store: record, converter: Doubling())
    try await manager.addObjectTypes([StepRow.self], externalStore: store)
    try await manager.execute()
    guard case .quantity(let quantity) = samples[0].payload else { throw ExternalStoreError.notSupported }
    #expect(store.rows[samples[0].uuid]?.steps == quantity.value * 2)
  }

  @Test("what is before and after a batch is told, also where it failed")
  func hooks() async throws {
    try await add(0..<2)
    let store = ScriptedStore { _, number in if number == 1 { throw Refusal() } }
    let hooks = HookedSynchronizer(store)
    let observer = try QueryObserver(store: record, synchronizer: hooks)
    await #expect(throws: Refusal.self) { try await observer.execute() }
    try await observer.execute()
    #expect(hooks.told == ["will 2 0", "did refused", "will 2 0", "did"])
  }
}
