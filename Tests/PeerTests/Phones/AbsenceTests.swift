import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import PeerTrust
import PhoneApps
import Testing

@testable import PeerClient

private func withStoreAndRegistry(_ body: (HealthStore, PeerRegistry) async throws -> Void) async throws {
  try await withTemporaryDirectory { directory in
    try await body(try HealthStore(directory: directory.path), try await PeerRegistry.open(in: directory))
  }
}

@Suite("What a phone has ceased to list")
struct AbsenceTests {
  private static let later = Duration.seconds(21 * 3_600)

  @Test("counts as deleted when it was missing twice, a day apart, and only then; another way brings it back to nobody")
  func twice() async throws {
    try await withStoreAndRegistry { store, registry in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      let rates = PhoneSample.heartRates(3_000)
      phone.add(rates)
      try await phone.pull(inferringWith: registry)
      phone.app.state.withLock { $0.remove([rates[100].id, rates[2_000].id]) }
      #expect(try await phone.pull(inferringWith: registry).deleted == 0)
      phone.network.clock.advance(by: .seconds(3_600))
      #expect(try await phone.pull(inferringWith: registry).deleted == 0)
      phone.network.clock.advance(by: Self.later)
      #expect(try await phone.pull().deleted == 0)
      #expect(try await phone.pull(inferringWith: registry).deleted == 2)
      #expect(try await Set(phone.uuids()) == phone.held)
      #expect(try await phone.pull(inferringWith: registry).deleted == 0)
    }
  }

  @Test("also where everything is asked for from the beginning both times", arguments: [true, false])
  func full(_ isHealthAppTransfer: Bool) async throws {
    func check(_ phone: PhoneFixture<some PhoneApp>, _ registry: PeerRegistry, _ remove: () -> Void) async throws {
      try await phone.pull(full: true, inferringWith: registry)
      remove()
      #expect(try await phone.pull(full: true, inferringWith: registry).deleted == 0)
      phone.network.clock.advance(by: Self.later)
      #expect(try await phone.pull(full: true, inferringWith: registry).deleted == 1)
    }
    try await withStoreAndRegistry { store, registry in
      let rates = PhoneSample.heartRates(2_500)
      if isHealthAppTransfer {
        let phone = try PhoneFixture.healthAppTransfer(into: store)
        phone.add(rates)
        try await check(phone, registry) { phone.app.state.withLock { $0.remove([rates[1_200].id]) } }
      } else {
        let phone = try PhoneFixture.healthSync(into: store)
        phone.add(rates)
        try await check(phone, registry) { phone.app.state.withLock { $0.remove([rates[1_200].id]) } }
      }
    }
  }

  @Test("not by an empty list, a shorter one in between, too many at once, or while another type shrinks")
  func careful() async throws {
    try await withStoreAndRegistry { store, registry in
      let phone = try PhoneFixture.healthAppTransfer(into: store)
      let (rates, steps) = (
        PhoneSample.heartRates(2_000),
        (0..<500).map {
          PhoneSample(type: "stepCount", start: 1_779_000_000 - Double($0) * 60, value: 3, unit: "count")
        }
      )
      phone.add(rates + steps)
      try await phone.pull(inferringWith: registry)
      func look(_ change: (inout HealthAppTransferApp.State) -> Void) async throws -> Int {
        phone.app.state.withLock { change(&$0) }
        phone.network.clock.advance(by: Self.later)
        return try await phone.pull(inferringWith: registry).deleted
      }
      // Nothing at all.
      #expect(try await look { $0.listsNothing = true } == 0)
      #expect(try await look { _ in } == 0)
      // Half of it.
      #expect(try await look { ($0.listsNothing, $0.samples["heartRate"]) = (false, Array(rates[1_000...])) } == 0)
      #expect(try await look { _ in } == 0)
      // One, and more the second time.
      #expect(try await look { $0.samples["heartRate"] = Array(rates[1...]) } == 0)
      #expect(try await look { $0.samples["heartRate"] = Array(rates[2...]) } == 0)
      // One, while another type shrinks.
      #expect(try await look { $0.samples["stepCount"] = Array(steps[1...]) } == 0)
      #expect(try await look { $0.samples["stepCount"] = Array(steps[2...]) } == 0)
      #expect(try await phone.uuids().count == 2_500)
    }
  }

  @Test("nor while another type is hidden, fails or is empty, at either of both times", arguments: [0, 1])
  func disturbed(_ time: Int) async throws {
    let changes: [@Sendable (inout HealthAppTransferApp.State) -> Void] = [
      { $0.hidden = ["stepCount"] }, { $0.faults = ["stepCount": .status(500)] },
      { $0.faults = ["stepCount": .undecodable] },
    ]
    for change in changes {
      try await withStoreAndRegistry { store, registry in
        let phone = try PhoneFixture.healthAppTransfer(into: store)
        let rates = PhoneSample.heartRates(2_000)
        phone.add(
          rates
            + (0..<500).map {
              PhoneSample(type: "stepCount", start: 1_779_000_000 - Double($0) * 60, value: 3, unit: "count")
            })
        try await phone.pull(inferringWith: registry)
        phone.app.state.withLock { $0.remove([rates[700].id]) }
        for look in 0...1 {
          if look == time { phone.app.state.withLock { change(&$0) } }
          phone.network.clock.advance(by: Self.later)
          #expect(try await phone.pull(inferringWith: registry).deleted == 0)
          phone.app.state.withLock { ($0.hidden, $0.faults) = ([], [:]) }
        }
        phone.network.clock.advance(by: Self.later)
        #expect(try await phone.pull(inferringWith: registry).deleted == 1)
      }
    }
  }

  @Test("of HealthSync, too; and what another road brought first is left alone")
  func windows() async throws {
    try await withStoreAndRegistry { store, registry in
      let phone = try PhoneFixture.healthSync(into: store)
      let rates = PhoneSample.heartRates(25_000)
      let other = Samples.heartRates(1)
      try await store.apply(ChangeBatch(additions: other))
      phone.add(rates)
      try await phone.pull(inferringWith: registry)
      phone.app.state.withLock { $0.remove([rates[20_000].id]) }
      #expect(try await phone.pull(inferringWith: registry).deleted == 0)
      phone.network.clock.advance(by: Self.later)
      #expect(try await phone.pull(inferringWith: registry).deleted == 1)
      #expect(try await phone.uuids().count == 25_000)
    }
  }

  @Test("not in a second of which less came than is there, however often it was asked for")
  func shortSecond() async throws {
    try await withStoreAndRegistry { store, registry in
      let phone = try PhoneFixture.healthSync(into: store)
      let crowd = (0..<10_010).map { _ in PhoneSample.heartRate(60, at: 1_779_000_000) }
      phone.add(crowd + PhoneSample.heartRates(300))
      try await phone.pull(inferringWith: registry)
      // One comes twice in the place of another.
      phone.app.state.withLock {
        $0.remove([crowd[0].id])
        $0.add([crowd[1]])
      }
      #expect(try await phone.pull(inferringWith: registry).deleted == 0)
      let position = try await store.feed.position(of: Pull.consumer(of: phone.server, types: []))
      #expect(HealthSyncPosition(try #require(position))?.absences == DeletionInference())
    }
  }
}
