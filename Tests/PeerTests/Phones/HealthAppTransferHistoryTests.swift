import Foundation
import HealthStore
import PeerProtocol
import PhoneApps
import TestSupport
import Testing

@testable import PeerClient

@Suite("Random histories of a phone with HealthAppTransfer")
struct HealthAppTransferHistoryTests {
  /// The seeds, which `HPEER_SEEDS=1000 HPEER_SEED=5` changes.
  private static let seeds: Range<UInt64> = {
    let environment = ProcessInfo.processInfo.environment
    let first = environment["HPEER_SEED"].flatMap { UInt64($0) } ?? 1
    return first..<first + (environment["HPEER_SEEDS"].flatMap { UInt64($0) } ?? 8)
  }()

  @Test("after a sweep the store has what the phone has, each once", arguments: seeds)
  func converges(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let clock = VirtualClock()
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store, seed: seed, clock: clock) { state in
        // Lists move between requests.
        guard state.requests.count % 3 == 0 else { return }
        let all = state.samples["heartRate"] ?? []
        let start = clock.seconds - Double(state.requests.count % 50)
        state.add([.heartRate(Double(state.requests.count), at: start)])
        if all.count > 10 { state.remove([all[state.requests.count * 7_919 % all.count].id]) }
      }
      let density = [0.02, 1, 30, 4_000][Int(seed % 4)]
      phone.add(PhoneSample.heartRates(Int.random(in: 0...4_000, using: &random), every: density))
      for _ in 0..<8 {
        clock.advance(by: .seconds(Int.random(in: 1...200_000, using: &random)))
        Self.change(phone, clock, &random)
        let putAway = random.oneIn(2) ? Int.random(in: 1...8, using: &random) : nil
        do {
          try await phone.pull(full: random.oneIn(6), putAwayAfter: putAway)
        } catch let error as PeerError {
          #expect(error.category == .unreachable, "\(error)")
        }
      }
      // In peace.
      phone.app.state.withLock { $0.requests = [""] }
      let uuids = try await Self.sweep(phone)
      #expect(Set(uuids).count == uuids.count)
      #expect(phone.held.isSubset(of: uuids), "seed \(seed): \(phone.held.subtracting(uuids).count) missing")
    }
  }

  @Test("as long as nothing is deleted, each pull has everything, without reading everything", arguments: seeds)
  func findsWhatArrivesLate(_ seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let clock = VirtualClock()
    try await withStore { store in
      let phone = try PhoneFixture.healthAppTransfer(into: store, seed: seed, clock: clock)
      let density = [0.02, 1, 30, 4_000][Int(seed % 4)]
      phone.add(PhoneSample.heartRates(Int.random(in: 3_000...6_000, using: &random), every: density))
      try await phone.pull()
      for _ in 0..<4 {
        clock.advance(by: .seconds(Int.random(in: 100...90_000, using: &random)))
        // The newest, some of today, and a few of long ago.
        phone.add([.heartRate(1, at: clock.seconds)])
        phone.add(
          (0..<Int.random(in: 0...300, using: &random)).map { _ in
            .heartRate(2, at: clock.seconds - Double.random(in: 0...80_000, using: &random))
          })
        phone.add(
          (0..<Int.random(in: 0...3, using: &random)).map { _ in
            .heartRate(3, at: clock.seconds - Double.random(in: 0...9_000_000, using: &random))
          })
        let before = phone.network.state.withLock(\.requests)
        try await phone.pull()
        #expect(try await Set(phone.uuids()) == phone.held, "seed \(seed)")
        #expect(phone.network.state.withLock(\.requests) - before < 70)
      }
    }
  }

  private static func sweep(_ phone: PhoneFixture<HealthAppTransferApp>) async throws -> [UUID] {
    let still = try PhoneFixture.healthAppTransfer(into: phone.store)
    let held = phone.app.state.withLock { $0.samples }
    still.app.state.withLock { $0.samples = held }
    try await still.pull(full: true)
    return try await still.uuids()
  }

  /// Simulates late arrivals, deletions and edits.
  private static func change(
    _ phone: PhoneFixture<HealthAppTransferApp>, _ clock: VirtualClock, _ random: inout SeededGenerator
  ) {
    let all = phone.app.state.withLock { $0.samples["heartRate"] ?? [] }
    var (new, gone): ([PhoneSample], Set<UUID>) = ([], [])
    for _ in 0..<Int.random(in: 0...1_500, using: &random) {
      new.append(.heartRate(70, at: clock.seconds - Double.random(in: 0...80_000, using: &random)))
    }
    for _ in 0..<Int.random(in: 0...40, using: &random) {
      new.append(.heartRate(71, at: clock.seconds - Double.random(in: 0...20_000_000, using: &random)))
    }
    if !all.isEmpty {
      for _ in 0..<Int.random(in: 0...40, using: &random) {
        let old = random.pick(all)
        gone.insert(old.id)
        if random.oneIn(2) { new.append(.heartRate(72, at: old.start)) }
      }
    }
    phone.app.state.withLock { state in
      state.remove(gone)
      state.add(new)
    }
  }
}
