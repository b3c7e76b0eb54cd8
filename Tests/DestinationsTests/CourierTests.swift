import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import Synchronization
import TestSupport
import Testing

@testable import Destinations

@Suite("Courier", .timeLimit(.minutes(5)))
struct CourierTests {
  private let directory: TemporaryDirectory
  private let store: HealthStore
  private let samples: [Sample]
  private let clock = RecordingClock()

  init() async throws {
    directory = try TemporaryDirectory()
    store = try HealthStore(directory: directory.path("home"))
    var maker = SampleMaker(seed: 4)
    samples = (0..<50).map { maker.steps(at: $0) }
    try await store.apply(ChangeBatch(additions: samples))
  }

  private func courier<Place: Destination>(
    to place: Place, policy: RetryPolicy = RetryPolicy(), clock: (any Clock<Duration>)? = nil
  ) -> Courier<Place> {
    Courier(
      to: place, named: "test:home", from: store, policy: policy,
      deadLetters: DeadLetters(path: directory.path("refused.jsonl")), clock: clock ?? self.clock)
  }

  private func delete(_ sample: Sample) async throws {
    try await store.apply(ChangeBatch(deletions: [Tombstone(sample: sample.reference, deleted: .now)]))
  }

  private func deadLetters() throws -> [[String: String]] {
    try String(contentsOfFile: directory.path("refused.jsonl"), encoding: .utf8).split(separator: "\n").map {
      try JSONDecoder().decode([String: String].self, from: Data($0.utf8))
    }
  }

  @Test("a folder has what the store has, and a second run delivers nothing")
  func folder() async throws {
    let folder = URL(filePath: directory.path("folder"))
    #expect(throws: (any Error).self) { try FilesDestination(folder: folder).check() }
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    try FilesDestination(folder: folder).check()
    let courier = courier(to: FilesDestination(folder: folder), clock: ContinuousClock())
    #expect(try await courier.run() == CourierReport(delivered: 50))
    try await delete(samples[3])
    #expect(try await courier.run().delivered == 1)
    #expect(try await courier.run() == CourierReport())
    let names = Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
    #expect(names == Set(samples.filter { $0 != samples[3] }.map { "\($0.uuid).json" }))
  }

  @Test("a position that is removed before its delivery begins is not made once more")
  func removed() async throws {
    let place = ScriptedDestination(before: { _, _ in })
    let consumer = try await store.consumer("test:home")
    #expect(consumer.isNew)
    #expect(try await !store.consumer("test:home").isNew)
    try await store.removeConsumer("test:home")
    await #expect(throws: StoreError.consumerChanged(name: "test:home")) {
      try await courier(to: place).run(of: consumer)
    }
    #expect(place.seen.samples.isEmpty)
    #expect(try await store.consumers().isEmpty)
  }

  @Test("what happens while a page is delivered, of which the next was read already, comes after it")
  func meanwhile() async throws {
    let store = store
    // In the order of their pages.
    let rest = Mutex(samples[...])
    let deleted = Mutex<Set<UUID>>([])
    let place = ScriptedDestination(after: { _, batch in
      let next = rest.withLock { rest in
        rest = rest.dropFirst(batch.changes.samples.count)
        return rest.first
      }
      let first = try batch.additions().first
      for sample in [first, next].compactMap(\.self) where deleted.withLock({ $0.insert(sample.uuid).inserted }) {
        try await store.apply(ChangeBatch(deletions: [Tombstone(sample: sample.reference, deleted: .now)]))
      }
      return Delivery()
    })
    _ = try await courier(to: place).run()
    #expect(deleted.withLock(\.count) > 4)
    let left = samples.filter { sample in !deleted.withLock { $0.contains(sample.uuid) } }
    #expect(place.seen.samples == Dictionary(uniqueKeysWithValues: left.map { ($0.uuid, $0) }))
    #expect(place.seen.repetitions == 0)
  }

  @Test("what fails is tried again, after a pause that doubles and no sooner than it was told")
  func retries() async throws {
    let place = ScriptedDestination(before: { attempt, _ in
      if attempt < 3 { throw DeliveryError.temporary(reason: "busy", retryAfter: attempt == 2 ? .seconds(90) : nil) }
    })
    let report = try await courier(to: place).run()
    #expect(report == CourierReport(delivered: 50, retries: 3))
    #expect(place.seen.samples.count == 50)
    #expect(Set(place.seen.keys.prefix(4)).count == 1)
    try #require(clock.pauses.count == 3)
    #expect((Duration.seconds(0.5)...(.seconds(1))).contains(clock.pauses[0]))
    #expect((Duration.seconds(1)...(.seconds(2))).contains(clock.pauses[1]))
    #expect(clock.pauses[2] == .seconds(90))
  }

  @Test("nothing is delivered that could not be noted, and it goes on when there is room")
  func noRoom() async throws {
    let room = ChangingRoom(freeBytes: 1 << 20)
    let store = try HealthStore(
      directory: directory.path("home"), space: { _ in DiskSpace(bytes: 1 << 40, freeBytes: room.freeBytes) })
    let place = ScriptedDestination(before: { _, _ in })
    let courier = Courier(to: place, named: "test:home", from: store, clock: clock)
    let error = await #expect(throws: StoreError.self) { _ = try await courier.run() }
    #expect(error?.isOutOfRoom == true)
    #expect(place.seen.keys.isEmpty)
    room.freeBytes = 1 << 40
    #expect(try await courier.run().delivered == 50)
  }

  @Test("nobody is obeyed who asks for a year")
  func longRetryAfter() async throws {
    let place = ScriptedDestination(before: { attempt, _ in
      if attempt == 0 { throw DeliveryError.temporary(reason: "later", retryAfter: .seconds(31_536_000)) }
    })
    _ = try await courier(to: place).run()
    #expect(clock.pauses == [.seconds(3_600)])
  }

  @Test("the circuit opens after some failures in a row, and the next run goes on where this one stopped")
  func circuit() async throws {
    let place = ScriptedDestination(before: { attempt, _ in
      if (2..<7).contains(attempt) { throw DeliveryError.temporary(reason: "down") }
    })
    let courier = courier(to: place, policy: RetryPolicy(tolerance: 5))
    await #expect(throws: CourierError.gaveUp(destination: "test:home", attempts: 5, reason: "down")) {
      try await courier.run()
    }
    #expect(clock.pauses.count == 4)
    #expect(place.seen.samples.count == 20)
    #expect(try await courier.run().delivered == 30)
    #expect((place.seen.samples.count, place.seen.repetitions) == (50, 0))
    #expect(
      try await store.audit.records().map(\.event).filter { $0.hasPrefix("delivery") } == [
        "delivery.started", "delivery.failed", "delivery.started", "delivery.finished",
      ])
  }

  @Test("a courier that follows rests while the circuit is open, and then tries once")
  func rest() async throws {
    let (done, doing) = AsyncStream<Void>.makeStream()
    let place = ScriptedDestination(
      before: { attempt, _ in if attempt < 4 { throw DeliveryError.temporary(reason: "down") } },
      after: { attempt, _ in
        if attempt == 8 { doing.yield() }
        return Delivery()
      })
    let courier = courier(to: place, policy: RetryPolicy(tolerance: 3, rest: .seconds(5_000)))
    let task = Task { try await courier.run(follows: true) }
    for await _ in done.prefix(1) {}
    task.cancel()
    _ = await task.result
    #expect(clock.pauses.count == 4)
    #expect(clock.pauses.suffix(2) == [.seconds(5_000), .seconds(5_000)])
    #expect(place.seen.samples.count == 50)
  }

  @Test("a batch whose acknowledgement is lost comes again under its key, without what is deleted meanwhile")
  func lostAcknowledgement() async throws {
    let place = ScriptedDestination(after: { attempt, _ in
      if attempt == 1 { throw DeliveryError.temporary(reason: "the connection was lost") }
      return Delivery()
    })
    await #expect(throws: CourierError.self) {
      try await courier(to: place, policy: RetryPolicy(tolerance: 1)).run()
    }
    #expect(place.seen.samples.count == 20)
    try await delete(samples[12])
    _ = try await courier(to: place).run()
    #expect(place.seen.keys[1] == place.seen.keys[2])
    #expect(place.seen.repetitions == 9)
    #expect(Set(place.seen.samples.keys) == Set(samples.map(\.uuid)).subtracting([samples[12].uuid]))
  }

  @Test(
    "of a batch that is refused as a whole only what is refused by itself is set aside", arguments: [[17], [0, 1, 49]])
  func poison(_ numbers: [Int]) async throws {
    let poison = Set(numbers.map { samples[$0].uuid })
    let place = ScriptedDestination(before: { _, batch in
      guard batch.changes.samples.allSatisfy({ !poison.contains($0.uuid) }) else {
        throw DeliveryError.refused(reason: "400")
      }
    })
    let report = try await courier(to: place).run()
    #expect(report == CourierReport(delivered: 50 - poison.count, refused: poison.count))
    #expect(Set(place.seen.samples.keys) == Set(samples.map(\.uuid)).subtracting(poison))
    #expect(place.seen.repetitions == 0)
    let letters = try deadLetters()
    #expect(Set(letters.compactMap { $0["uuid"].flatMap({ UUID(uuidString: $0) }) }) == poison)
    #expect(letters.allSatisfy { $0["reason"] == "400" && Set($0.keys) == ["key", "reason", "start", "type", "uuid"] })
    // What was set aside does not come again.
    #expect(try await courier(to: place).run() == CourierReport())
  }

  @Test("a place that starts over forgets also where it refuses the first of what follows")
  func poisonAtTheStart() async throws {
    let refuses = Mutex(false)
    let place = ScriptedDestination(
      DestinationCapabilities(maximumChanges: 1, deadline: .seconds(1_000_000)),
      before: { _, batch in
        if refuses.withLock(\.self), batch.count > 0 { throw DeliveryError.refused(reason: "400") }
      })
    #expect(try await courier(to: place).run().delivered == 50)
    try await store.startConsumerOver("test:home")
    refuses.withLock { $0 = true }
    #expect(try await courier(to: place).run() == CourierReport(refused: 50))
    #expect(place.seen.samples.isEmpty)
    let keys = place.seen.keys.dropFirst(50)
    #expect(Set(keys).count == keys.count)
  }

  @Test("a place that refuses everything is not asked about each change, and takes all of it once it is put right")
  func refusesEverything() async throws {
    var maker = SampleMaker(seed: 5)
    let more = (50..<1_000).map { maker.steps(at: $0) }
    try await store.apply(ChangeBatch(additions: more))
    let capabilities = DestinationCapabilities(maximumChanges: 1_000, deadline: .seconds(1_000_000))
    let place = ScriptedDestination(capabilities, before: { _, _ in throw DeliveryError.refused(reason: "400") })
    #expect(try await courier(to: place).run() == CourierReport(refused: 1_000))
    // Twice the depth of what is found alone, beside that: by itself each would be asked for, some 2,000 times.
    #expect(place.seen.keys.count <= 62 + 2 * RefusalBudget.singles)
    let letters = DeadLetters(path: directory.path("refused.jsonl"))
    let refused = try await letters.read()
    #expect(Set(refused.map(\.sample)) == Set((samples + more).map(\.reference)))
    #expect(refused.allSatisfy { $0.reason == "400" })
    #expect(try await courier(to: place).run() == CourierReport())

    func retry(_ place: ScriptedDestination) async throws -> CourierReport {
      try await Redelivery(to: place, of: "test:home", from: store, filter: .everything, deadLetters: letters).run()
    }
    let before = place.seen.keys.count
    #expect(try await retry(place) == CourierReport(refused: 1_000))
    #expect(place.seen.keys.count - before <= 62 + 2 * RefusalBudget.singles)
    let sound = ScriptedDestination(capabilities)
    #expect(try await retry(sound) == CourierReport(delivered: 1_000))
    #expect(sound.seen.samples.count == 1_000)
    #expect(try await letters.read().isEmpty)
  }

  @Test("what was refused is kept where the place has no time for it, or never answers", .timeLimit(.minutes(5)))
  func retryLater() async throws {
    let letters = DeadLetters(path: directory.path("refused.jsonl"))
    try await letters.add(
      samples[..<3].map { RefusedSample($0.reference, reason: "400") }, of: DeliveryKey(description: "key"))
    let deadline = Duration.milliseconds(20)
    let busy = ScriptedDestination(before: { _, _ in throw DeliveryError.temporary(reason: "503") })
    let silent = ScriptedDestination(
      DestinationCapabilities(deadline: deadline), before: { _, _ in try await Task.sleep(for: .seconds(3_600)) })
    for (place, reason) in [(busy, "503"), (silent, "it did not answer within \(deadline)")] {
      let redelivery = Redelivery(to: place, of: "test:home", from: store, filter: .everything, deadLetters: letters)
      let error = await #expect(throws: CourierError.self) { try await redelivery.run() }
      #expect(error == .gaveUp(destination: "test:home", attempts: 1, reason: reason))
      #expect(error?.description.contains("times") == false)
    }
    #expect(Set(try await letters.read().map(\.sample)) == Set(samples[..<3].map(\.reference)))
  }

  @Test("a type of which a place refuses everything keeps no other back, the first time and later")
  func refusesType() async throws {
    var maker = SampleMaker(seed: 6)
    let more = (50..<150).map { maker.steps(at: $0) }
    let others = (150..<153).map { minute in
      var sample = maker.steps(at: minute)
      sample.type = SampleType("HKQuantityTypeIdentifierFlightsClimbed")
      return sample
    }
    try await store.apply(ChangeBatch(additions: more + others))
    func place() -> ScriptedDestination {
      ScriptedDestination(
        DestinationCapabilities(maximumChanges: 1_000, deadline: .seconds(1_000_000)),
        before: { [type = samples[0].type] _, batch in
          let isTaken = try batch.additions().allSatisfy { $0.type != type }
          if !isTaken { throw DeliveryError.refused(reason: "400") }
        })
    }
    let first = place()
    #expect(try await courier(to: first).run() == CourierReport(delivered: 3, refused: 150))
    #expect(Set(first.seen.samples.keys) == Set(others.map(\.uuid)))
    let letters = DeadLetters(path: directory.path("refused.jsonl"))
    #expect(Set(try await letters.read().map(\.sample)) == Set((samples + more).map(\.reference)))
    // As if all had been refused at first.
    let refused = others.map { RefusedSample($0.reference, reason: "400") }
    try await letters.add(refused, of: DeliveryKey(description: "key"))
    let second = place()
    let redelivery = Redelivery(to: second, of: "test:home", from: store, filter: .everything, deadLetters: letters)
    #expect(try await redelivery.run() == CourierReport(delivered: 3, refused: 150))
    #expect(Set(second.seen.samples.keys) == Set(others.map(\.uuid)))
  }

  @Test("the parts of a batch have the same members when it comes again with less")
  func stableParts() throws {
    func batch(_ samples: some Sequence<Sample>) throws -> DeliveryBatch {
      var coder = ChangeCoder()
      for sample in samples { try coder.add(sample) }
      coder.add(Tombstone(sample: self.samples[49].reference, deleted: .now))
      return DeliveryBatch(changes: coder.changes, startsOver: false)
    }
    func members(_ batch: DeliveryBatch) -> Set<UUID> { Set(batch.refused("").map(\.sample.uuid)) }
    let (whole, less) = (try batch(samples[..<49]), try batch(samples[..<49].filter { _ in Bool.random() }))
    for bit in 0..<62 {
      let (first, second) = try #require(whole.parts(byBit: bit))
      #expect(members(first).isDisjoint(with: members(second)))
      #expect(members(first).union(members(second)) == members(whole))
      guard let parts = less.parts(byBit: bit) else { continue }
      #expect(members(parts.0).isSubset(of: members(first)) && members(parts.1).isSubset(of: members(second)))
    }
    #expect(whole.parts(byBit: 62) == nil)
  }

  @Test("what a destination names as refused is set aside, and the rest is delivered")
  func refusedByName() async throws {
    let refused = samples[5].reference
    let place = ScriptedDestination(after: { _, batch in
      let isHere = batch.changes.samples.contains { $0.uuid == refused.uuid }
      return Delivery(refused: isHere ? [RefusedSample(refused, reason: "unknown type")] : [])
    })
    #expect(try await courier(to: place).run() == CourierReport(delivered: 49, refused: 1))
    #expect(try deadLetters().map { $0["uuid"] } == [refused.uuid.uuidString])
    let end = try #require(try await store.audit.records().last)
    #expect(end.detail == ["destination": "test:home", "kind": "scripted", "count": "49", "refused": "1"])
  }

  @Test("what takes nothing before somebody changes something is not tried again")
  func unusable() async throws {
    let place = ScriptedDestination(before: { _, _ in throw DeliveryError.unusable(reason: "wrong password") })
    await #expect(throws: CourierError.unusable(destination: "test:home", reason: "wrong password")) {
      try await courier(to: place).run()
    }
    #expect(clock.pauses.isEmpty)
    #expect(place.seen.keys.count == 1)
  }

  @Test("what the store cannot read is no fault of the destination, and is not tried again")
  func damaged() async throws {
    let place = ScriptedDestination(before: { _, _ in
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "damaged"))
    })
    await #expect(throws: DecodingError.self) { try await courier(to: place).run() }
    #expect(clock.pauses.isEmpty)
  }

  @Test("what takes longer than its deadline has failed")
  func deadline() async throws {
    let clock = ManualClock()
    let place = ScriptedDestination(
      DestinationCapabilities(maximumChanges: 100, deadline: .seconds(30)),
      before: { attempt, _ in if attempt == 0 { try await Task.sleep(for: .seconds(100_000)) } })
    let courier = courier(to: place, policy: RetryPolicy(tolerance: 1), clock: clock)
    let task = Task { try await courier.run() }
    while clock.sleepers == 0 { await Task.yield() }
    clock.advance(by: .seconds(30))
    await #expect(throws: CourierError.self) { try await task.value }
    #expect(place.seen.samples.isEmpty)
  }

  @Test("a destination that cannot delete is sent no deletions")
  func withoutDeletions() async throws {
    let place = ScriptedDestination(DestinationCapabilities(maximumChanges: 100, deletes: false))
    _ = try await courier(to: place, clock: ContinuousClock()).run()
    try await delete(samples[0])
    #expect(try await courier(to: place, clock: ContinuousClock()).run() == CourierReport())
    #expect(place.seen.samples.count == 50)
    #expect(place.seen.keys.count == 1)
  }
}
