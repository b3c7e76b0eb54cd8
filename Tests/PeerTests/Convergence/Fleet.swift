import Foundation
import HealthModel
import HealthStore

/// A set of machines on which a history is run, with the conditions that must hold for them.
final class Fleet {
  private(set) var machines: [Machine]
  let world: World
  let wire: Wire
  let checks: Feed.Checks
  /// The samples whose deletion some machine has forgotten. They may return, and machines may differ in them.
  private(set) var forgotten: Set<SampleKey> = []
  /// The readings that were written during the history, and the samples that existed before. All other samples are
  /// from the ``world``.
  private var readings: Set<Data> = []
  private var copies: [Machine.Copy] = []

  /// A closure that pulls in a different way from ``Feed``. Returns whether the pull completed.
  typealias Carrier = (PullStep, Fleet) async throws -> Bool
  let carrier: Carrier?

  /// - Parameter held: The samples that the machines already hold, as JSON with sorted keys.
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

  /// Returns the name that ``Pull`` gives its position.
  func consumer(_ from: Int, _ selection: Int) -> String {
    let names = (world.selections[selection] ?? []).map(\.rawValue).sorted().joined(separator: ",")
    return "pull:\(machines[from].id)" + (names.isEmpty ? "" : ":\(names)")
  }

  func feed(of machine: Int, selection: Int, bound: Int) -> Feed {
    Feed(
      of: machines[machine].store, over: wire, types: world.selections[selection], earliest: world.bounds[bound],
      checks: checks)
  }

  /// Requires that no sample was changed in transit.
  func requireWritten() async throws {
    let written = readings.union(try world.spellings.joined().map { try $0.text() })
    for machine in machines {
      for (key, text) in try await machine.store.samplesOfFeed() where !written.contains(text) {
        throw Failure("\(key) became \(String(decoding: text.prefix(2_000), as: UTF8.self))")
      }
    }
  }
}
