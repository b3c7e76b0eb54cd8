import Foundation
import HealthAnalysis
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import Destinations

@Suite("Changed times")
struct ChangedTimesTests {
  private static func batch(_ samples: [Sample], _ tombstones: [Tombstone] = []) throws -> DeliveryBatch {
    var coder = ChangeCoder()
    for sample in samples { try coder.add(sample) }
    for tombstone in tombstones { coder.add(tombstone) }
    return DeliveryBatch(changes: coder.changes, startsOver: false)
  }

  @Test("ranges are the union of all lengths of samples, apart by type", arguments: [1, 2, 3] as [UInt64])
  func union(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var maker = SampleMaker(seed: seed)
    var samples: [Sample] = []
    for _ in 0..<200 {
      var sample = maker.steps(at: Int.random(in: 0...20_000, using: &random))
      sample.end = Timestamp(seconds: sample.start.seconds + Int64.random(in: 0...40_000, using: &random))
      if Bool.random(using: &random) { sample.type = RecordFixture.bodyMass }
      samples.append(sample)
    }
    let times = ChangedTimes(try Self.batch(samples))
    #expect(times.types == [RecordFixture.steps, RecordFixture.bodyMass])
    for type in times.types {
      let ranges = times.ranges(of: type)
      for (one, next) in zip(ranges, ranges.dropFirst()) { #expect(one.upperBound < next.lowerBound) }
      // Minute by minute, as one would do by hand.
      for minute in stride(from: Int64(1_704_060_000), to: 1_705_400_000, by: 60) {
        let instant = Timestamp(seconds: minute)
        let isInSome = samples.contains { sample in
          sample.type == type && sample.start.seconds - 1 <= minute && minute < sample.end.seconds + 301
        }
        #expect(ranges.contains { $0.contains(instant) } == isInSome)
      }
    }
  }

  @Test("days are those of the zone, also around changes of clocks and of what is deleted")
  func days() throws {
    let berlin = try ZoneRules(named: "Europe/Berlin")
    let start = try #require(Timestamp(iso8601: "2024-03-30T23:30:00+01:00"))
    let end = try #require(Timestamp(iso8601: "2024-03-31T23:30:00+02:00"))
    let reference = SampleReference(type: RecordFixture.steps, start: start, uuid: UUID())
    let day = berlin.dayNumber(at: start.seconds)
    let known = try Self.batch([], [Tombstone(sample: reference, deleted: .now, end: end)])
    #expect(ChangedTimes(known).days(of: RecordFixture.steps, in: berlin) == [day...day + 1])
    // What does not say where it ended may have been as long as a day can be.
    let unknown = try Self.batch([], [Tombstone(sample: reference, deleted: .now)])
    #expect(ChangedTimes(unknown).days(of: RecordFixture.steps, in: berlin) == [day...day + 2])
    #expect(ChangedTimes(unknown).days(of: RecordFixture.heartRate, in: berlin) == [])
  }

  @Test("the ends of time are no trap")
  func extremes() throws {
    var maker = SampleMaker(seed: 9)
    var sample = maker.steps(at: 0)
    (sample.start, sample.end) = (Timestamp(microseconds: .max), Timestamp(microseconds: .min))
    let ranges = ChangedTimes(try Self.batch([sample])).ranges(of: RecordFixture.steps)
    #expect(ranges == [Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)])
  }
}
