import Foundation
import HealthModel
import HealthStore

/// Some machines to which a history happens, and what must hold of them.
final class Fleet {
  private(set) var machines: [Machine]
  let world: World
  let wire: Wire
  let checks: Feed.Checks
  /// What some machine has forgotten the deletion of: it may come back, and machines may differ in it.
  private(set) var forgotten: Set<SampleKey> = []
  /// Readings as they came to be written, and what was there before. All else is of the ``world``.
  private var readings: Set<Data> = []
  private var copies: [Machine.Copy] = []

  /// Pulls in another way than ``Feed`` has it. Whether the pull came to its end.
  typealias Carrier = (PullStep, Fleet) async throws -> Bool
  let carrier: Carrier?

  /// - Parameter held: what the machines hold already, as JSON with sorted keys.
  init(
    _ machines: [Machine], world: World, wire: Wire = .ndjson, checks: Feed.Checks = Feed.Checks(),
    held: Set<Data> = [], carrier: Carrier? = nil
  ) {
    self.machines = machines
    self.world = world
    self.wire = wire
    self.checks = checks
    self.carrier = carrier
    readings = held
  }

  func run(_ step: Step) async throws {
    switch step {
    case .add(let machine, let samples, let spelling):
      let additions = samples.map { world.spellings[$0][spelling % world.spellings[$0].count] }
      try await machines[machine].store.apply(ChangeBatch(additions: additions))
    case .delete(let machine, let samples, let seconds):
      let tombstones = samples.map {
        Tombstone(sample: world.spellings[$0][0].reference, deleted: Timestamp(seconds: seconds))
      }
      try await machines[machine].store.apply(ChangeBatch(deletions: tombstones))
    case .deleteHour(let machine, let number):
      let sample = world.spellings[number][0]
      let end = Timestamp(microseconds: sample.start.microseconds.addingReportingOverflow(3_600_000_000).partialValue)
      guard sample.start < end else { return }
      _ = try await machines[machine].store.samples.delete(sample.type, in: sample.start..<end, step: 3)
    case .drift(let machine, let day, let value, let readAt):
      let summary = World.summary(day: day, value: value, readAt: readAt)
      let store = machines[machine].store
      try await store.add(readings: [summary])
      // One that was only remembered may be written when an older one is met.
      readings.insert(try summary.text())
      for sample in try await store.samples.page(of: .activitySummary, limit: 100) {
        readings.insert(try sample.text())
      }
    case .pull(let pull): try await self.pull(pull, isChecked: true)
    case .replay(let machine, let from, let selection, let age):
      let machine = machines[machine]
      let consumer = consumer(from, selection)
      guard let deliveries = machine.deliveries[consumer], age < deliveries.count else { return }
      _ = try await wire.commit(deliveries[deliveries.count - 1 - age], machine.store, consumer)
    case .foreignToken(let machine, let from, let other, let selection):
      // A copy of a store knows its tokens.
      guard machines[other].id != machines[from].id else { return }
      let token = try await feed(of: other, selection: selection, bound: 0).lastToken()
      try await machines[machine].store.apply(ChangeBatch(), position: (consumer(from, selection), token))
    case .prune(let machine, let before):
      let store = machines[machine].store
      let held = try await store.state().tombstones
      try await store.feed.pruneTombstones(
        before: before.map { Timestamp(seconds: $0) } ?? Timestamp(microseconds: .max))
      forgotten.formUnion(held.subtracting(try await store.state().tombstones))
    case .copy(let machine): if let copy = try machines[machine].copy() { copies.append(copy) }
    case .restore(let machine, let copy):
      guard !copies.isEmpty else { return }
      try machines[machine].restore(copies[copy % copies.count])
    case .reopen(let machine): try machines[machine].reopen()
    case .takeTurns(let machine): machines[machine].takeTurns()
    }
  }

  /// What ``Pull`` calls its position.
  func consumer(_ from: Int, _ selection: Int) -> String {
    let names = (world.selections[selection] ?? []).map(\.rawValue).sorted().joined(separator: ",")
    return "pull:\(machines[from].id)" + (names.isEmpty ? "" : ":\(names)")
  }

  func feed(of machine: Int, selection: Int, bound: Int) -> Feed {
    Feed(
      of: machines[machine].store, over: wire, types: world.selections[selection], earliest: world.bounds[bound],
      checks: checks)
  }

  /// Nothing that the machines hold was changed on its way.
  func requireWritten() async throws {
    let written = readings.union(try world.spellings.joined().map { try $0.text() })
    for machine in machines {
      for (key, text) in try await machine.store.samplesOfFeed() where !written.contains(text) {
        throw Failure("\(key) became \(String(decoding: text.prefix(2_000), as: UTF8.self))")
      }
    }
  }
}
