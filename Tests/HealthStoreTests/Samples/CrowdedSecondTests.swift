import Foundation
import GRDB
import GRDBSQLite
import HealthModel
import Synchronization
import TestSupport
import Testing

@testable import HealthStore

/// Tests with many thousand samples of a type in a single second: a lookup of one must not scan all others.
@Suite("crowded seconds", .timeLimit(.minutes(5)))
struct CrowdedSecondTests {
  private let fixture: StoreFixture
  private var store: HealthStore { fixture.store }

  init() throws { fixture = try StoreFixture() }

  /// A counter of SQLite's work on the writing connection, in thousands of virtual machine steps.
  private final class Steps: Sendable {
    let count = Mutex(0)

    func start(_ store: HealthStore) async throws {
      try await store.write { db in
        sqlite3_progress_handler(
          db.sqliteConnection, 1_000,
          { context in
            // Lives until `stop`.
            context.map { Unmanaged<Steps>.fromOpaque($0).takeUnretainedValue().count.withLock { $0 += 1 } }
            return 0
          }, Unmanaged.passUnretained(self).toOpaque())
      }
    }

    func stop(_ store: HealthStore) async throws -> Int {
      try await store.write { db in sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil) }
      return count.withLock(\.self)
    }
  }

  /// Returns samples with HealthKit's UUIDs that start in the same second, each at a different microsecond unless
  /// `sameStart` is true.
  private func samples(_ count: Int, seed: UInt64, sameStart: Bool = false) -> [Sample] {
    var maker = SampleMaker(seed: seed)
    return (0..<count).map { index in
      var sample = maker.steps(at: 0)
      if !sameStart { sample.start = Timestamp(microseconds: sample.start.microseconds + Int64(index * 30 + 7)) }
      return sample
    }
  }

  private func apply(_ samples: [Sample], deleting: Bool = false) async throws {
    for start in stride(from: 0, to: samples.count, by: 2_000) {
      let part = Array(samples[start..<min(start + 2_000, samples.count)])
      if deleting {
        try await store.apply(
          ChangeBatch(deletions: part.map { Tombstone(sample: $0.reference, deleted: Timestamp(seconds: 1)) }))
      } else {
        try await store.apply(ChangeBatch(additions: part))
      }
    }
  }

  private func steps(_ body: () async throws -> Void) async throws -> Int {
    let steps = Steps()
    try await steps.start(store)
    try await body()
    return try await steps.stop(store)
  }

  @Test(
    "25,000 in one second are added, found again, cut to the second and deleted at some hundred steps each",
    arguments: [false, true])
  func manyInOneSecond(sameStart: Bool) async throws {
    let all = samples(25_000, seed: 71, sameStart: sameStart)
    let added = try await steps { try await apply(all) }
    // As a road that cuts starts to the second says them again, in another order.
    let again = try await steps {
      try await apply(
        all.reversed().map { sample in
          var sample = sample
          sample.start = Timestamp(seconds: sample.start.seconds)
          return sample
        })
    }
    let deleted = try await steps { try await apply(all, deleting: true) }
    let refused = try await steps { try await apply(all) }
    #expect(try await store.samples.typeCounts() == [])
    // In thousands of steps; the square would be a hundred thousand of these.
    for (what, count) in [("added", added), ("again", again), ("deleted", deleted), ("refused", refused)] {
      #expect(count < 25_000, "\(what): \(count) thousand steps")
    }
  }

  @Test("what the store has of many is told without stepping over all of them for each")
  func known() async throws {
    let all = samples(6_000, seed: 72)
    try await apply(all)
    try await apply(Array(all[..<1_000]), deleting: true)
    let strange = samples(500, seed: 73)
    let known = try await store.samples.known((all + strange).map(\.reference))
    #expect(known == Set(all.map(\.uuid)))
  }

  @Test("a second is read once, also where there is more than is kept, and its samples are found all the same")
  func readOnce() async throws {
    let crowd = samples(3_000, seed: 76)
    try await apply(crowd)
    let few = samples(200, seed: 77) + crowd[..<10]
    func cost(_ wanted: [Sample], known: Int, keeping maximumRows: Int) async throws -> Int {
      try await steps {
        let found = try await store.write { db -> Int in
          guard let type = try SampleMaker.stepCount.id(in: db) else { return 0 }
          let crowds = CrowdedSeconds(db, .sample, maximumRows: maximumRows)
          return try wanted.count { try crowds.find($0.uuid, start: $0.start.microseconds, type: type) != nil }
        }
        #expect(found == known)
      }
    }
    // Of none, a single row is read to find that out.
    let least = try await cost(few, known: 10, keeping: 0)
    let more = try await cost(few, known: 10, keeping: 1_000)
    // In thousands of steps; two hundred times a thousand rows would be above a thousand.
    #expect(more < least + 200)
    // What is there is looked up by its number: steps over the others would be ten thousands.
    #expect(try await cost(crowd, known: 3_000, keeping: 10_000) < 3_000)
  }

  @Test("in a crowded second, one UUID stays one sample whatever its start, and what is deleted is gone")
  func sameAsElsewhere() async throws {
    // Enough that the second is known as a whole, in one transaction with what follows.
    let crowd = samples(3_000, seed: 74)
    try await apply(crowd)
    var maker = SampleMaker(seed: 75)
    var new = maker.steps(at: 0)
    new.start = Timestamp(microseconds: new.start.microseconds + 500)
    var cut = new
    cut.start = Timestamp(seconds: new.start.seconds)
    var rounded = new
    rounded.start = Timestamp(seconds: new.start.seconds + 1)
    var apart = new
    apart.start = Timestamp(seconds: new.start.seconds + 3)
    let lookers = crowd[..<600].map { sample in
      var sample = sample
      sample.start = Timestamp(seconds: sample.start.seconds)
      return sample
    }
    try await store.apply(ChangeBatch(additions: lookers + [cut, new, rounded]))
    let steps = SampleMaker.stepCount
    #expect(try await store.samples.typeCounts().first { $0.type == steps }?.samples == 3_001)
    #expect(try await store.samples.sample(new.reference)?.start == new.start)
    // Three seconds later it is another, here as elsewhere.
    try await store.apply(ChangeBatch(additions: lookers + [apart]))
    #expect(try await store.samples.typeCounts().first { $0.type == steps }?.samples == 3_002)
    // Deleted and told again, within one transaction each.
    let tombstones = (crowd[..<600] + [new]).map { Tombstone(sample: $0.reference, deleted: .now) }
    try await store.apply(ChangeBatch(additions: lookers + [cut], deletions: tombstones))
    #expect(try await store.samples.typeCounts().first { $0.type == steps }?.samples == 3_002 - 601)
    #expect(try await store.samples.known([cut.reference, rounded.reference]) == [new.uuid])
  }
}
