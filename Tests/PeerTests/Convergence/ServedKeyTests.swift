import Foundation
import HealthModel
import HealthStore
import PeerClient
import PeerTrust
import TestSupport
import Testing

@testable import PeerServer

/// Tests of two machines that imported different exports and pull from each other over TLS on loopback: both end with
/// what the newest export says.
@Suite("Keys and readings of served stores") struct ServedKeyTests {
  private static let type = SampleType("HKQuantityTypeIdentifierDietaryEnergyConsumed")

  /// Returns a meal of several foods at the same time.
  private static func meal(_ values: Double...) -> TwinGroup {
    let noon = Timestamp(seconds: Samples.noon)
    let samples = values.map { value in
      Sample(
        uuid: SampleIdentity.namespace, type: type, start: noon, end: noon, created: noon, source: Source(name: "Food"),
        payload: .quantity(Quantity(value, "kcal")))
    }
    return TwinGroup(key: HealthModel.SampleKey(kind: "record", sample: samples[0]), samples: samples)
  }

  private static func `import`(_ meal: TwinGroup, of day: Int64, into store: HealthStore) throws {
    let date = Timestamp(seconds: Samples.noon + day * 86_400)
    try ImportWriter(store, .init(name: "export.zip", exported: date)).write(twins: [meal])
  }

  private static func summary(_ energy: String, of day: Int64) -> Sample {
    let start = Timestamp(seconds: Samples.noon / 86_400 * 86_400)
    return Sample(
      uuid: SampleIdentity.namespace, type: .activitySummary, start: start,
      end: Timestamp(seconds: start.seconds + 86_400), created: Timestamp(seconds: Samples.noon + day * 86_400),
      source: Source(name: "Health"),
      payload: .activitySummary(ActivitySummary(date: "2024-06-15", attributes: ["activeEnergyBurned": energy])))
  }

  @Test("both foods of a meal are on both machines, and one summary of the day")
  func meals() async throws {
    try await withServer { first in
      try await withServer { second in
        try Self.import(Self.meal(410), of: 1, into: first.store)
        for server in [first, second] { try Self.import(Self.meal(250, 410), of: 2, into: server.store) }
        try await first.store.add(readings: [Self.summary("284", of: 1)])
        try await second.store.add(readings: [Self.summary("853", of: 2)])
        let records = [try await first.record().server, try await second.record().server]
        for _ in 0..<2 {
          _ = try await Pull(into: second.store, from: records[0], at: first.endpoint).run()
          _ = try await Pull(into: first.store, from: records[1], at: second.endpoint).run()
        }
        for server in [first, second] {
          let foods = try await server.store.samples.page(of: Self.type, limit: 10).map(\.payload)
          #expect(foods.count == 2)
          #expect(Set(foods) == [.quantity(Quantity(250, "kcal")), .quantity(Quantity(410, "kcal"))])
          let summaries = try await server.store.samples.page(of: .activitySummary, limit: 10)
          #expect(summaries.map(\.payload) == [Self.summary("853", of: 2).payload])
        }
        #expect(try await Verify(second.store, with: records[0], at: first.endpoint, isDeep: true).run().isEqual)
      }
    }
  }

  @Test("who has the first export alone and pulls from who has the second holds both foods")
  func olderMachine() async throws {
    try await withServer { server in
      try Self.import(Self.meal(250, 410), of: 2, into: server.store)
      try await withStore { store in
        try Self.import(Self.meal(410), of: 1, into: store)
        let record = try await server.record().server
        _ = try await Pull(into: store, from: record, at: server.endpoint).run()
        let foods = try await store.samples.page(of: Self.type, limit: 10).map(\.payload)
        #expect(foods.count == 2 && Set(foods).count == 2)
        #expect(try await Verify(store, with: record, at: server.endpoint, isDeep: true).run().isEqual)
        // What is deleted by its value stays deleted when another joins the meal.
        let page = try await store.feed.codedChanges(since: .zero, limit: 10).changes
        let food = Payload.quantity(Quantity(250, "kcal"))
        let coded = try #require(try page.samples.first { try page.sample($0).payload == food })
        let statement = try #require(coded.statement.map { page.statements[Int($0)] })
        var tombstone = Tombstone(of: try page.sample(coded), deleted: .now)
        (tombstone.sample.uuid, tombstone.statement) = (statement.content, statement)
        try await store.apply(ChangeBatch(deletions: [tombstone]))
        try Self.import(Self.meal(77, 250, 410), of: 3, into: store)
        let left = try await store.samples.page(of: Self.type, limit: 10).map(\.payload)
        #expect(Set(left) == [.quantity(Quantity(77, "kcal")), .quantity(Quantity(410, "kcal"))])
      }
    }
  }
}
