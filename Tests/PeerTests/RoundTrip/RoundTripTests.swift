import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests that samples are unchanged when they are transferred to another store and on to a third.
///
/// The first store normalizes four things. NaN becomes a single value, whatever its sign and payload. A quantity of
/// -0 becomes 0, because SQLite stores it as an integer. In a payload of an unknown kind, a whole number becomes an
/// integer (`1.0` equals `1`), or the nearest double if it exceeds 64 bits. Metadata keys that are equal in Unicode
/// become a single key.
@Suite("Round trip", .timeLimit(.minutes(5))) struct RoundTripTests {
  /// Transfers a batch twice, through three stores. Runs `body` with the last store.
  private func carry(
    _ batch: ChangeBatch, over wire: Wire, pageSize: Int, _ body: (HealthStore) async throws -> Void
  ) async throws {
    try await withStore { first in
      try await first.apply(batch)
      try await withStore { second in
        try await pull(from: first, into: second, over: wire, pageSize: pageSize)
        try await withStore { third in
          try await pull(from: second, into: third, over: wire, pageSize: pageSize + 1)
          try await body(third)
        }
      }
    }
  }

  private func pull(
    from source: HealthStore, into store: HealthStore, over wire: Wire, pageSize: Int
  ) async throws {
    let feed = Feed(of: source, over: wire, types: nil, earliest: nil, checks: Feed.Checks())
    var page = try await feed.page(after: nil, limit: pageSize)
    while true {
      let receipt = try await wire.commit(page.bytes, store, "pull")
      #expect(receipt.more == !page.isLast)
      if page.isLast { return }
      page = try await feed.page(after: page, limit: pageSize)
    }
  }

  private func expectKept(_ samples: [Sample], over wire: Wire, pageSize: Int, _ comment: Comment? = nil) async throws {
    try await carry(ChangeBatch(additions: samples), over: wire, pageSize: pageSize) { store in
      let kept = try await store.samplesOfFeed()
      #expect(kept.count == samples.count, comment)
      for sample in samples {
        let written = try sample.text()
        let read = kept[SampleKey(sample.reference)]
        if written != read {
          let texts = [written, read ?? Data()].map { String(decoding: $0.prefix(500), as: UTF8.self) }
          Issue.record("\(comment.map { "\($0): " } ?? "")\(texts[0]) became \(texts[1])")
        }
      }
    }
  }

  /// A day's ride with all fields of a point and full doubles, and a ride three times as long in an export's
  /// precision.
  @Test("a route of 100,000 points travels, and beside others", arguments: Wire.all)
  func longRoutes(wire: Wire) async throws {
    var maker = SampleMaker(seed: 3)
    var samples = (0..<20).map { maker.steps(at: $0) }
    for (count, digits) in [(100_000, 1.000_000_000_01), (200_000, 1)] {
      var sample = maker.steps(at: 30)
      sample.type = .workoutRoute
      sample.payload = .workoutRoute(
        WorkoutRoute(
          path: "/workout-routes/a.gpx",
          points: (0..<count).map { index in
            let place = Double(index) / 1e6 * digits
            return RoutePoint(
              time: Double(index), latitude: 52 + place, longitude: 13 - place, elevation: 34.5 + place, speed: 3.25,
              course: 12.125 + place, horizontalAccuracy: 4.75, verticalAccuracy: 3 + place)
          }))
      samples.append(sample)
    }
    samples += (40..<60).map { maker.steps(at: $0) }
    try await carry(ChangeBatch(additions: samples), over: wire, pageSize: 1_000) { store in
      // Not as texts of JSON, which are long.
      for type in [SampleType.workoutRoute, SampleMaker.stepCount] {
        let read = try await store.samples.page(
          of: type, in: Timestamp(seconds: 0)..<Timestamp(seconds: 1 << 40), limit: 100)
        let written = samples.filter { $0.type == type }
        #expect(read.count == written.count && Set(read.map(\.uuid)) == Set(written.map(\.uuid)))
        for sample in read { #expect(written.contains { $0.uuid == sample.uuid && $0.payload == sample.payload }) }
      }
    }
  }

  @Test("every oddity is kept, whatever else is in its batch", arguments: Wire.all, [1, 7, 2_000])
  func edgeCases(wire: Wire, pageSize: Int) async throws {
    try await expectKept(SampleMaker.edgeCases, over: wire, pageSize: pageSize)
  }

  @Test("random samples of all kinds are kept", arguments: Wire.all, [1, 2, 3] as [UInt64])
  func randomSamples(wire: Wire, seed: UInt64) async throws {
    var maker = SampleMaker(seed: seed)
    try await expectKept(maker.samples(400), over: wire, pageSize: 61, "seed \(seed)")
  }

  @Test("tombstones are kept, and keep the instant of the first deletion", arguments: Wire.all)
  func tombstones(wire: Wire) async throws {
    let tombstones = SampleMaker.edgeTombstones
    let batch = ChangeBatch(additions: SampleMaker.edgeCases.prefix(3) + [], deletions: tombstones)
    try await carry(batch, over: wire, pageSize: 5) { store in
      let kept = try await store.feed.changes(since: .zero, limit: 1000).changes.compactMap {
        if case .deleted(let tombstone) = $0 { tombstone } else { nil }
      }
      // In the order in which they were written.
      #expect(kept.count == tombstones.count)
      for (kept, tombstone) in zip(kept, tombstones) {
        #expect(SampleKey(kept.sample) == SampleKey(tombstone.sample))
        #expect(kept.deleted == tombstone.deleted)
      }
    }
  }

  @Test("a quantity of negative zero is zero, as in the store", arguments: Wire.all)
  func negativeZero(wire: Wire) async throws {
    var maker = SampleMaker(seed: 1)
    var sample = maker.steps(at: 0)
    sample.payload = .quantity(Quantity(-0.0, "count"))
    let batch = ChangeBatch(additions: [sample])
    try await carry(batch, over: wire, pageSize: 5) { store in
      let value = try await store.samples.sample(sample.reference)?.payload
      #expect("\(try #require(value))" == "\(Payload.quantity(Quantity(0.0, "count")))")
    }
  }

  @Test("a whole number in a payload of an unknown kind is an integer, where there is one", arguments: Wire.all)
  func wholeNumbers(wire: Wire) async throws {
    var maker = SampleMaker(seed: 1)
    var sample = maker.steps(at: 0)
    sample.payload = .unknown(kind: "a", content: .array([.number(1), .number(1e18), .number(1e19), .number(0.5)]))
    let expected = Payload.unknown(
      kind: "a", content: .array([.integer(1), .integer(1_000_000_000_000_000_000), .number(1e19), .number(0.5)]))
    try await carry(ChangeBatch(additions: [sample]), over: wire, pageSize: 5) { store in
      let kept = try await store.samples.sample(sample.reference)
      #expect(kept?.payload == expected)
    }
  }
}
