import Foundation
import HealthModel
import HealthStore
import PeerClient
import PeerProtocol
import PeerTrust
import Testing

@Suite("Comparing with a server")
struct VerifyTests {
  private static let june = CalendarMonth(containing: Timestamp(seconds: Samples.noon))

  private static func tombstone(_ sample: Sample) -> Tombstone {
    Tombstone(sample: sample.reference, deleted: Timestamp(seconds: Samples.noon))
  }

  @Test("after a pull both are equal, also in what the samples say", arguments: [false, true])
  func equal(isDeep: Bool) async throws {
    let samples = Samples.everyKind + Samples.heartRates(50)
    try await withServer(ServerOptions(samples: samples)) { server in
      try await server.store.apply(ChangeBatch(deletions: samples.suffix(3).map(Self.tombstone)))
      try await withStore { store in
        let record = try await server.record().server
        _ = try await Pull(into: store, from: record, at: server.endpoint).run()
        let verification = try await Verify(store, with: record, at: server.endpoint, isDeep: isDeep).run()
        #expect(verification.isEqual)
        #expect(verification.isDeep == isDeep)
        #expect(verification.here.samples.count == samples.count - 3)
        #expect(verification.here.tombstones.count == 3)
        #expect(verification.filter == .everything)
      }
    }
  }

  /// A replaced reading leaves nothing that only one of the machines has.
  @Test("whoever may read some sources holds the same of them", arguments: [false, true])
  func sources(isDeep: Bool) async throws {
    @Sendable func summary(_ energy: String, _ created: Int64) -> Sample {
      var sample = Samples.sample(
        .activitySummary,
        .activitySummary(ActivitySummary(date: "2024-06-15", attributes: ["activeEnergyBurned": energy])))
      (sample.source, sample.created) = (Source(name: "Health"), Timestamp(seconds: created))
      sample.uuid = SampleIdentity.uuid(ofReading: sample)
      return sample
    }
    let others = Samples.heartRates(9).map { sample in
      var sample = sample
      sample.source = Source(name: "an app")
      sample.uuid = UUID()
      return sample
    }
    let mine = Samples.heartRates(6)
    try await withServer(ServerOptions(samples: mine + others)) { server in
      for (energy, created) in [("100", 1), ("200", 2)] as [(String, Int64)] {
        try await server.store.add(readings: [summary(energy, created)])
      }
      let deleted = [mine[0], others[0]].map { Tombstone(of: $0, deleted: Timestamp(seconds: Samples.noon)) }
      try await server.store.apply(ChangeBatch(deletions: deleted))
      try await withStore { store in
        let scope = SampleFilter(sources: ["Health", mine[0].source.name])
        let record = try await server.record(scope: scope).server
        #expect(try await Pull(into: store, from: record, at: server.endpoint).run().added == 6)
        let verification = try await Verify(store, with: record, at: server.endpoint, isDeep: isDeep).run()
        #expect(verification.isEqual && verification.filter == scope)
        #expect(verification.here.samples.count == 6 && verification.here.tombstones.count == 1)
      }
    }
  }

  @Test("types and months that differ are named, with what is here and there")
  func different() async throws {
    let common = Samples.heartRates(10)
    let earlier = Samples.quantity(Samples.stepCount, 1, "count", at: Samples.noon - 40 * 86_400)
    let (mine, theirs) = (Samples.quantity(at: Samples.noon + 1), Samples.quantity(at: Samples.noon + 2))
    try await withServer(ServerOptions(samples: common + [earlier, theirs])) { server in
      try await withStore { store in
        let record = try await server.record().server
        try await store.apply(ChangeBatch(additions: common + [mine], deletions: [Self.tombstone(earlier)]))
        let verification = try await Verify(store, with: record, at: server.endpoint).run()
        #expect(verification.differences.map(\.type) == [Samples.heartRate, Samples.stepCount])
        try #require(verification.differences.count == 2)
        let (heart, steps) = (verification.differences[0], verification.differences[1])
        #expect(heart.month == Self.june && heart.aspects == [.samples])
        #expect(heart.here.samples.count == 11 && heart.there.samples.count == 11)
        #expect(steps.month == CalendarMonth("2024-05") && steps.aspects == [.samples, .tombstones])
        #expect(steps.here.samples.count == 0 && steps.there.samples.count == 1)
        #expect(steps.here.tombstones.count == 1 && steps.there.tombstones.count == 0)
        let some = try await Verify(store, with: record, at: server.endpoint, types: [Samples.stepCount]).run()
        #expect(some.differences.map(\.type) == [Samples.stepCount])
        let none = try await Verify(store, with: record, at: server.endpoint, types: [Samples.walking]).run()
        #expect(none.isEqual)
      }
    }
  }

  @Test("the same sample with other contents shows when that is asked for, and only in its month")
  func contents() async throws {
    let samples = (0..<6).map { Samples.quantity(at: Samples.noon + $0 * 40 * 86_400) }
    var changed = samples
    changed[2].metadata = ["HKTimeZone": "Europe/Berlin"]
    let later = Samples.quantity(at: Samples.noon + 4_000 * 86_400)
    try await withServer(ServerOptions(samples: samples + [later])) { [changed] server in
      try await withStore { store in
        try await store.apply(ChangeBatch(additions: changed))
        let record = try await server.record().server
        let shallow = try await Verify(store, with: record, at: server.endpoint).run()
        #expect(shallow.differences.map(\.aspects) == [[.samples]])
        var progress: [VerifyProgress] = []
        let deep = try await Verify(store, with: record, at: server.endpoint, isDeep: true).run {
          progress.append($0)
        }
        #expect(deep.differences.map(\.aspects) == [[.contents], [.samples]])
        #expect(deep.differences.first?.month == CalendarMonth(containing: changed[2].start))
        #expect(deep.differences.last?.month == CalendarMonth(containing: later.start))
        #expect(progress.last?.samples == 6 && progress.last?.total == 6)
      }
    }
  }

  @Test("what the server does not let this machine see is not compared")
  func scope() async throws {
    let samples = Samples.heartRates(10)
    try await withServer(ServerOptions(samples: samples + [Samples.quantity(Samples.walking, 1, "m")])) { server in
      let earliest = Timestamp(seconds: Samples.noon + 300)
      let scope = SampleFilter(
        types: [Samples.heartRate, Samples.stepCount],
        earliest: earliest)
      let record = try await server.record(scope: scope).server
      try await withStore { store in
        // Of its own, and of a time when it might see more.
        try await store.apply(ChangeBatch(additions: samples.suffix(7) + [Samples.quantity(Samples.sleep, 1, "s")]))
        let verification = try await Verify(store, with: record, at: server.endpoint, isDeep: true).run()
        #expect(verification.isEqual)
        #expect(verification.here.samples.count == 5)
        #expect(
          verification.filter == SampleFilter(types: [Samples.heartRate, Samples.stepCount], earliest: earliest))
      }
    }
  }

  @Test("a token that is refused is told as that")
  func refused() async throws {
    try await withServer { server in
      let (client, record) = try await server.record()
      try await server.registry.revoke(id: client)
      try await withStore { store in
        await #expect(throws: PeerError.tokenRefused(peer: TestServer.name)) {
          try await Verify(store, with: record, at: server.endpoint).run()
        }
      }
    }
  }
}
