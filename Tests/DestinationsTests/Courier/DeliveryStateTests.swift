import Foundation
import HealthModel
import HealthStore
import Synchronization
import TestSupport
import Testing

@testable import Destinations

/// Tests of the delivery state in the store, and of refused samples that are delivered again.
@Suite(.timeLimit(.minutes(5))) struct DeliveryStateTests {
  private let directory: TemporaryDirectory
  private let store: HealthStore
  private let samples = DestinationHarnesses.steps(30)

  init() async throws {
    directory = try TemporaryDirectory(inMemory: true)
    store = try HealthStore(directory: directory.path("home"))
    try await store.apply(ChangeBatch(additions: samples))
  }

  private var deadLetters: DeadLetters { DeadLetters(path: directory.path("refused.jsonl")) }

  private func courier(_ place: ScriptedDestination) -> Courier<ScriptedDestination> {
    Courier(
      to: place, named: "test:home", from: store, policy: RetryPolicy(tolerance: 3), deadLetters: deadLetters,
      clock: RecordingClock())
  }

  @Test("every attempt's outcome is known to whoever asks the store")
  func outcomes() async throws {
    let isDown = Mutex(true)
    let place = ScriptedDestination(before: { _, _ in
      if isDown.withLock(\.self) { throw DeliveryError.temporary(reason: "down") }
    })
    #expect(try await store.deliveries.state(of: "test:home") == DeliveryState(consumer: "test:home"))
    await #expect(throws: CourierError.self) { try await courier(place).run() }
    let failing = try await store.deliveries.state(of: "test:home")
    #expect((failing.failures, failing.reason, failing.delivered) == (3, "down", 0))
    #expect(failing.failing != nil && failing.succeeded == nil && failing.attempted != nil && failing.waiting == nil)
    isDown.withLock { $0 = false }
    #expect(try await courier(place).run().delivered == 30)
    let healthy = try await HealthStore(directory: directory.path("home")).deliveries.all()
    #expect(healthy.map(\.consumer) == ["test:home"])
    #expect((healthy[0].failures, healthy[0].reason, healthy[0].failing, healthy[0].delivered) == (0, nil, nil, 30))
    #expect(healthy[0].succeeded != nil)
  }

  @Test("what failed before fails no more once nothing is left to deliver", arguments: [false, true])
  func nothingLeft(follows: Bool) async throws {
    let courier = courier(ScriptedDestination())
    #expect(try await courier.run().delivered == 30)
    // Such as a secret that could not be read for a while.
    try await store.deliveries.noteFailure("no secret", waiting: .now, "test:home")
    let run = Task { try await courier.run(follows: follows) }
    defer { run.cancel() }
    if !follows { _ = try await run.value }
    while try await store.deliveries.state(of: "test:home").failing != nil {
      try await Task.sleep(for: .milliseconds(5))
    }
    let state = try await store.deliveries.state(of: "test:home")
    #expect((state.failures, state.reason, state.waiting) == (0, nil, nil))
  }

  @Test("a destination that is paused says since when, in the log too")
  func paused() async throws {
    for _ in 0..<2 { try await store.deliveries.setPaused(true, "test:home") }
    #expect(try await store.deliveries.state(of: "test:home").paused != nil)
    for _ in 0..<2 { try await store.deliveries.setPaused(false, "test:home") }
    #expect(try await store.deliveries.state(of: "test:home").paused == nil)
    #expect(try await store.audit.records().suffix(2).map { $0.detail["change"] } == ["paused", "resumed"])
    try await store.deliveries.remove("test:home")
    #expect(try await store.deliveries.all().isEmpty)
  }

  @Test("where consumers stand is what they say of themselves, and who is paused is known with it")
  func standings() async throws {
    let none = try await store.deliveries.standings()
    #expect(none.positions.isEmpty && none.paused.isEmpty)
    _ = try await courier(ScriptedDestination()).run()
    try await store.consumer("test:other")
    for name in ["test:home", "test:other"] { try await store.deliveries.setPaused(true, name) }
    try await store.deliveries.setPaused(false, "test:other")
    let standings = try await store.deliveries.standings()
    #expect(
      standings.positions == Dictionary(uniqueKeysWithValues: try await store.consumers().map { ($0.name, $0.anchor) }))
    #expect(standings.positions["test:other"] == .zero && standings.positions["test:home"] != .zero)
    #expect(standings.paused == ["test:home"])
  }

  @Test("what was refused is delivered again as far as it is there, and is refused no more once it is taken")
  func redelivery() async throws {
    let poison = Mutex(Set(samples[..<4].map(\.uuid)))
    let place = ScriptedDestination(before: { _, batch in
      if batch.changes.samples.contains(where: { sample in poison.withLock { $0.contains(sample.uuid) } }) {
        throw DeliveryError.refused(reason: "400")
      }
    })
    #expect(try await courier(place).run() == CourierReport(delivered: 26, refused: 4))
    #expect(try await deadLetters.read().count == 4)
    _ = poison.withLock { $0.remove(samples[0].uuid) }
    try await store.apply(ChangeBatch(deletions: [Tombstone(sample: samples[1].reference, deleted: .now)]))
    let again = Redelivery(
      to: place, of: "test:home", from: store, filter: .everything, deadLetters: deadLetters)
    #expect(try await again.run() == CourierReport(delivered: 2, refused: 2))
    #expect(Set(try await deadLetters.read().map(\.sample.uuid)) == Set(samples[2..<4].map(\.uuid)))
    #expect(place.seen.samples[samples[0].uuid] != nil && place.seen.samples[samples[1].uuid] == nil)
    poison.withLock { $0 = [] }
    #expect(try await again.run() == CourierReport(delivered: 2))
    #expect(try await again.run() == CourierReport())
  }

  @Test("a retry whose answer was lost repeats its requests under the same keys, and nothing else does")
  func interruptedRetry() async throws {
    func add(_ samples: some Sequence<Sample>) async throws {
      let refused = samples.map { RefusedSample($0.reference, reason: "400") }
      try await deadLetters.add(refused, of: DeliveryKey(description: "key"))
    }
    func retry(_ place: ScriptedDestination) async throws -> CourierReport {
      try await Redelivery(to: place, of: "test:home", from: store, filter: .everything, deadLetters: deadLetters).run()
    }
    try await add(samples[5..<30])
    // One of the first batch is refused again; the second is there, and its answer is lost.
    let first = ScriptedDestination(after: { [refused = samples[6].reference] attempt, _ in
      if attempt == 0 { return Delivery(refused: [RefusedSample(refused, reason: "422")]) }
      throw DeliveryError.temporary(reason: "reset")
    })
    await #expect(throws: CourierError.self) { try await retry(first) }
    #expect(first.seen.keys.count == 2)
    let left = try await deadLetters.read()
    #expect(left.count == 16 && left.first { $0.sample == samples[6].reference }?.reason == "422")
    // Earlier than all others: batches made anew would have other members.
    try await add(samples[..<5])

    let second = ScriptedDestination()
    #expect(try await retry(second) == CourierReport(delivered: 21))
    let repeated = try #require(second.seen.keys.firstIndex(of: first.seen.keys[1]))
    #expect(second.seen.additions[repeated] == first.seen.additions[1])
    #expect(second.seen.keys.count == 3 && !second.seen.keys.contains(first.seen.keys[0]))
    #expect(try await deadLetters.read().isEmpty)
  }

  @Test("a line of the dead letters that was cut off costs only itself")
  func cutLine() async throws {
    try await deadLetters.add([RefusedSample(samples[0].reference, reason: "no")], of: DeliveryKey(description: "k"))
    let path = directory.path("refused.jsonl")
    var data = try Data(contentsOf: URL(filePath: path))
    data += Data(#"{"key":"k","reas"#.utf8) + Data("\n{}\n[]\n".utf8)
    try data.write(to: URL(filePath: path))
    #expect(try await deadLetters.read() == [RefusedSample(samples[0].reference, reason: "no")])
    // A crash in the middle of a line, after which more is refused.
    data += Data(#"{"key":"k","reason":"cut o"#.utf8)
    try data.write(to: URL(filePath: path))
    for sample in samples[1..<3] {
      try await deadLetters.add([RefusedSample(sample.reference, reason: "no")], of: DeliveryKey(description: "k"))
    }
    #expect(try await deadLetters.read().map(\.sample) == samples[..<3].map(\.reference))
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.hasSuffix("\n") && !text.contains("\n\n"))
  }
}
