import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import HealthAnalysis

/// Tests that nights of any sleeping habit lie within a single sleep day, and that no daily sum changes abruptly.
@Suite struct SleepDayTests {
  private struct Stretch {
    /// The start, in minutes since midnight of the first day.
    var start: Int64
    var end: Int64
  }

  private static let zone = ZoneRules(offset: 7200, name: "+02:00")
  private static let firstDay = 19_889

  private static func instant(_ minutes: Int64) -> Int64 {
    (zone.start(ofDay: firstDay) + minutes * 60) * 1_000_000
  }

  private static func nights(_ stretches: [Stretch]) -> [Night] {
    var sessions = SleepSessions(names: ["watch"])
    for stretch in stretches.sorted(by: { $0.start < $1.start }) where stretch.start < stretch.end {
      sessions.add(start: instant(stretch.start), end: instant(stretch.end), stage: .asleepCore, rank: 0)
    }
    return SleepQuery(in: zone).nights(of: sessions.finish())
  }

  /// Returns the minutes slept, by days after the first.
  private static func sums(_ stretches: [Stretch]) -> [Int: Double] {
    var sums: [Int: Double] = [:]
    for night in nights(stretches) { sums[night.day - firstDay] = (night.asleep ?? 0) / 60 }
    return sums
  }

  @Test("an edge that moves by a minute moves the sleep of its day by a minute at most", arguments: 0..<60)
  func noCliff(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    // Fewer than seven days, so that sleep days end at 15:00.
    var stretches = (0..<8).map { _ in
      let start = Int64(random.below(5 * 1440))
      return Stretch(start: start, end: start + 10 + Int64(random.below(300)))
    }
    for _ in 0..<40 {
      let before = Self.sums(stretches)
      let (index, step): (Int, Int64) = (random.below(stretches.count), random.below(2) == 0 ? -1 : 1)
      if random.below(2) == 0 { stretches[index].start += step } else { stretches[index].end += step }
      let after = Self.sums(stretches)
      for day in Set(before.keys).union(after.keys) {
        let change = abs((before[day] ?? 0) - (after[day] ?? 0))
        #expect(change <= 1.001, "day \(day) of \(stretches)")
      }
    }
  }

  @Test("nothing that was slept is lost or doubled", arguments: 0..<30)
  func everything(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let stretches = (0..<80).map { number in
      let start = Int64(number) * 900 + Int64(random.below(300))
      return Stretch(start: start, end: start + 10 + Int64(random.below(560)))
    }
    let slept: Int64 = stretches.reduce(0) { $0 + $1.end - $1.start }
    let told = Self.sums(stretches).values.reduce(0, +)
    #expect(abs(told - Double(slept)) < 0.01)
  }

  @Test(
    "somebody who sleeps by day has whole sleeps of the dates on which they end, once there are seven",
    arguments: [0, 4, 6, 8, 9, 13, 14, 15, 17, 22])
  func habits(hour: Int) {
    let nights = Self.nights(
      (0..<40).map { day in
        let start = Int64(day) * 1440 + Int64(hour) * 60 + Int64(day * 37 % 50)
        return Stretch(start: start, end: start + 480)
      })
    let whole = nights.dropFirst(10)
    #expect(whole.count >= 28)
    #expect(whole.allSatisfy { $0.main.asleep == 28_800 && $0.naps.isEmpty })
    #expect(whole.allSatisfy { night in night.main.wake.map { Self.zone.dayNumber(at: $0.seconds) } == night.day })
    let days = whole.map(\.day)
    #expect(zip(days, days.dropFirst()).allSatisfy { $0 + 1 == $1 })
  }

  @Test("the pieces of a night are in order, whichever is the longest", arguments: 0..<3)
  func pieces(longest: Int) throws {
    let lengths = (0..<3).map { Int64($0 == longest ? 180 : 140) }
    let starts: [Int64] = [1320, 1530, 1780]
    let nights = Self.nights(zip(starts, lengths).map { Stretch(start: $0, end: $0 + $1) })
    let main = try #require(nights.first).main
    #expect(nights.count == 1 && main.segments.map(\.start.microseconds) == starts.map(Self.instant))
    #expect(main.onset?.microseconds == Self.instant(1320))
    #expect(main.wake?.microseconds == Self.instant(1780 + lengths[2]))
    #expect(main.unknown == Double((1780 + lengths[2] - 1320) * 60) - Double((460) * 60))
  }

  @Test("how long it took to fall asleep is said by what leads to sleep")
  func latency() throws {
    var sessions = SleepSessions(names: ["watch"])
    for (start, end, stage) in [(1200, 1230, .inBed), (1340, 1800, .inBed), (1350, 1790, .asleepCore)]
      as [(Int64, Int64, SleepStage)]
    {
      sessions.add(start: Self.instant(start), end: Self.instant(end), stage: stage, rank: 0)
    }
    let nights = SleepQuery(in: Self.zone).nights(of: sessions.finish())
    #expect(nights.count == 1 && nights[0].naps.isEmpty && nights[0].main.latency == 600)
  }

  @Test("where clocks leave out midnight, or a date, nothing is lost")
  func missingMidnights() throws {
    let zones = [
      ("America/Sao_Paulo", "2018-11-04"), ("Africa/Cairo", "2024-04-26"), ("Pacific/Apia", "2011-12-30"),
      ("Asia/Beirut", "2024-03-31"),
    ]
    for (name, date) in zones {
      let rules = try ZoneRules(named: name)
      let day = try ZoneRulesTests.number(of: date)
      for middle in stride(from: 0, to: 24, by: 1) {
        var sessions = SleepSessions(names: ["watch"])
        var slept: Int64 = 0
        for number in day - 12...day + 4 {
          let start = (rules.start(ofDay: number) + Int64(middle) * 3600 + Int64(number % 5) * 600) * 1_000_000
          sessions.add(start: start, end: start + 18_000_000_000, stage: .asleepCore, rank: 0)
          slept += 18_000
        }
        let all = sessions.finish()
        let told = SleepQuery(in: rules).nights(of: all).compactMap(\.asleep).reduce(0, +)
        let counted = all.compactMap(\.asleep).reduce(0, +)
        #expect(abs(told - counted) < 0.01, "\(name), \(middle)")
        #expect(counted <= Double(slept))
      }
    }
  }

  @Test("a bed that says so for weeks has a night each day")
  func endless() {
    let nights = Self.nights((0..<480).map { Stretch(start: Int64($0) * 60, end: Int64($0) * 60 + 50) })
    #expect(nights.count >= 20)
    #expect(nights.allSatisfy { ($0.asleep ?? 0) <= 86_400 })
  }

  @Test("the median of clocks goes round")
  func medians() {
    #expect(SleepDays.median([3 * 3600, 4 * 3600, 2 * 3600]) == 3 * 3600)
    #expect(SleepDays.median([23 * 3600, 1 * 3600]) == 0)
    #expect(SleepDays.median([23 * 3600, 22 * 3600, 1 * 3600]) == 23 * 3600)
    #expect(SleepDays.median([0]) == 0)
  }

  @Test("a hole in the middle of what the watch says is filled as one at its ends is")
  func hole() throws {
    func session(until end: Int64) throws -> SleepSession {
      var sessions = SleepSessions(names: ["watch", "app"])
      for (start, end, rank) in [(0, 90, 0), (95, end, 1), (390, 450, 0)] as [(Int64, Int64, Int)] {
        sessions.add(start: Self.instant(start), end: Self.instant(end), stage: .asleepCore, rank: rank)
      }
      return try #require(sessions.finish().first)
    }
    let (filled, opinion) = (try session(until: 380), try session(until: 154))
    #expect(filled.asleep == Double((90 + 285 + 60) * 60) && filled.source == "watch")
    #expect(opinion.asleep == Double(90 * 60))
  }

  @Test("nights of a few days are those of the whole record")
  func parts() async throws {
    let directory = try TemporaryDirectory()
    let store = try HealthStore(directory: directory.path)
    var random = SeededGenerator(seed: 7)
    // Nights that drift through the day, with naps.
    let samples = (0..<120).flatMap { day in
      let start = Int64(day) * 1440 + Int64(day * 12)
      return [(start, start + 300 + Int64(random.below(200))), (start + 700, start + 730)].map { start, end in
        Sample(
          uuid: UUID(), type: SleepQuery.type, start: Timestamp(microseconds: Self.instant(start)),
          end: Timestamp(microseconds: Self.instant(end)), source: Source(name: "Watch"),
          payload: .category(CategoryValue(value: 3)))
      }
    }
    try await store.apply(ChangeBatch(additions: samples))
    var query = SleepQuery(in: Self.zone)
    let all = try await query.run(on: store)
    #expect(all.count > 100)
    for first in stride(from: Self.firstDay, to: Self.firstDay + 120, by: 11) {
      (query.firstDay, query.lastDay) = (first, first + 2)
      let found = try await query.run(on: store)
      #expect(found == all.filter { (first...first + 2).contains($0.day) })
    }
    for extreme in [Int.min, -40_000_000, .max] {
      (query.firstDay, query.lastDay) = (extreme, nil)
      #expect(try await query.run(on: store).count == (extreme > 0 ? 0 : all.count))
      (query.firstDay, query.lastDay) = (nil, extreme)
      #expect(try await query.run(on: store).count == (extreme > 0 ? all.count : 0))
    }
  }
}
