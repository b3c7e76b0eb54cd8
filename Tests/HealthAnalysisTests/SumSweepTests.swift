import HealthModel
import TestSupport
import Testing

@testable import HealthAnalysis

/// Tests with the vectors C1 to C12, and with random histories and an oracle that computes minute by minute.
@Suite struct SumSweepTests {
  /// A sample. Rank 0 is a manual entry, 1 a watch, 2 a phone, 3 an app.
  struct Entry: Sendable {
    var rank: Int
    var start: Int64
    var end: Int64
    var value: Double
  }

  private static func watch(_ start: String, _ end: String, _ value: Double) throws -> Entry {
    try entry(1, start, end, value)
  }
  private static func phone(_ start: String, _ end: String, _ value: Double) throws -> Entry {
    try entry(2, start, end, value)
  }
  private static func app(_ start: String, _ end: String, _ value: Double) throws -> Entry {
    try entry(3, start, end, value)
  }

  /// - Parameter start: A time on 2024-06-15 in Berlin, or a complete date and time with its offset.
  private static func entry(_ rank: Int, _ start: String, _ end: String, _ value: Double) throws -> Entry {
    let instants = try [start, end].map { text in
      try #require(Timestamp(iso8601: text.contains("T") ? text : "2024-06-15T\(text):00+02:00")).microseconds
    }
    return Entry(rank: rank, start: instants[0], end: instants[1], value: value)
  }

  /// Returns the sums of buckets, by the names of their hours or days.
  private static func sums(_ entries: [Entry], by size: BucketSize, from: String, to: String) throws -> [String: Double]
  {
    let zone = try ZoneRules(named: "Europe/Berlin")
    let days = try [from, to].map { Timestamp(seconds: zone.start(ofDay: try ZoneRulesTests.number(of: $0))) }
    let buckets = try CalendarBuckets(size, in: zone, days[0]..<days[1])
    return Dictionary(
      uniqueKeysWithValues: sweep(entries, edges: buckets.edges).map { (buckets[$0.index].name, $0.sum.value) })
  }

  private static func sweep(_ entries: [Entry], edges: [Int64]) -> [(index: Int, sum: SumSweep.Sum)] {
    var sweep = SumSweep(edges: edges, ranks: 4)
    for entry in entries.sorted(by: { $0.start < $1.start }) {
      sweep.add(start: entry.start, end: entry.end, value: entry.value, rank: entry.rank)
    }
    return sweep.finish()
  }

  private static func day(_ entries: [Entry]) throws -> Double? {
    try sums(entries, by: .day, from: "2024-06-15", to: "2024-06-16")["2024-06-15T00:00:00+02:00"]
  }

  private static func hours(_ entries: [Entry], on date: String = "2024-06-15", to next: String = "2024-06-16") throws
    -> [String: Double]
  {
    var hours: [String: Double] = [:]
    for (name, sum) in try sums(entries, by: .hour, from: date, to: next) {
      hours[String(name.dropFirst(11).prefix(2)) + name.suffix(6)] = sum
    }
    return hours
  }

  @Test func C1() throws {
    #expect(try Self.day([Self.watch("10:00", "10:10", 1000), Self.phone("10:05", "10:15", 800)]) == 1400)
  }

  @Test func C2() throws {
    let day = try #require(try Self.day([Self.watch("10:00", "10:10", 1000), Self.phone("09:50", "10:20", 900)]))
    #expect(abs(day - 1600) < 1e-9)
  }

  @Test func C3() throws {
    let entries = try [
      Self.watch("08:00", "08:30", 1500), Self.watch("12:00", "12:20", 1000), Self.phone("08:15", "12:10", 4700),
    ]
    let day = try #require(try Self.day(entries))
    #expect(abs(day - 6700) < 1e-9)
    let hours = try Self.hours(entries)
    let expected = [
      "08+02:00": 2100.0, "09+02:00": 1200, "10+02:00": 1200, "11+02:00": 1200, "12+02:00": 1000,
    ]
    #expect(Set(hours.keys) == Set(expected.keys))
    for (hour, sum) in expected { #expect(abs(try #require(hours[hour]) - sum) < 1e-9) }
  }

  @Test func C4() throws {
    let entries = try [
      Self.phone("13:57", "14:02", 100), Self.phone("14:30", "14:42", 200), Self.phone("14:55", "15:07", 120),
    ]
    #expect(try Self.hours(entries) == ["13+02:00": 60, "14+02:00": 290, "15+02:00": 70])
  }

  @Test func C5() throws {
    let entry = try Self.watch("2024-06-15T23:50:00+02:00", "2024-06-16T00:10:00+02:00", 300)
    #expect(
      try Self.sums([entry], by: .day, from: "2024-06-15", to: "2024-06-17")
        == ["2024-06-15T00:00:00+02:00": 150, "2024-06-16T00:00:00+02:00": 150])
  }

  @Test func C6() throws {
    let entries = try [
      Self.watch("10:00", "10:10", 1000), Self.entry(0, "10:05", "10:05", 500), Self.app("10:05", "10:05", 70),
      Self.app("11:00", "11:00", 30),
    ]
    #expect(try Self.day(entries) == 1530)
  }

  @Test func C7() throws {
    let entries = try [
      Self.watch("10:00", "10:10", 600), Self.phone("10:05", "10:20", 900), Self.app("09:55", "10:30", 3500),
    ]
    #expect(try Self.day(entries) == 2700)
  }

  @Test func C8() throws {
    #expect(try Self.day([Self.watch("10:00", "10:10", 100), Self.watch("10:05", "10:15", 100)]) == 200)
  }

  @Test func C9() throws {
    let entries = try [
      Self.app("10:00", "10:00", 250), Self.app("00:00", "00:00", 100),
      Self.app("2024-06-16T00:00:00+02:00", "2024-06-16T00:00:00+02:00", 999),
    ]
    #expect(try Self.day(entries) == 350)
  }

  @Test func C10() throws {
    let entry = try Self.watch("2024-10-27T00:00:00+02:00", "2024-10-28T00:00:00+01:00", 2500)
    let hours = try Self.hours([entry], on: "2024-10-27", to: "2024-10-28")
    #expect(hours.count == 25)
    #expect(hours.values.allSatisfy { $0 == 100 })
  }

  @Test func C11() throws {
    let entry = try Self.watch("2024-10-27T02:30:00+02:00", "2024-10-27T02:30:00+01:00", 600)
    #expect(
      try Self.hours([entry], on: "2024-10-27", to: "2024-10-28") == ["02+02:00": 300, "02+01:00": 300])
  }

  @Test func C12() throws {
    let entry = try Self.watch("2024-03-31T01:30:00+01:00", "2024-03-31T03:30:00+02:00", 600)
    #expect(
      try Self.hours([entry], on: "2024-03-31", to: "2024-04-01") == ["01+01:00": 300, "03+02:00": 300])
  }

  @Test func twinsCountOnceAndAreTold() throws {
    let twins = try [
      Self.watch("10:00", "10:10", 100), Self.watch("10:00", "10:10", 100), Self.phone("11:00", "11:00", 5),
    ]
    let day = try Self.entry(0, "00:00", "23:59", 0)
    let sums = Self.sweep(twins + twins, edges: [day.start, day.end])
    #expect(sums.count == 1)
    // Instants are no twins.
    #expect(sums[0].sum.value == 110 && sums[0].sum.twins == 3)
    #expect(sums[0].sum.covered == [1: 600_000_000, 2: 0])
  }

  // MARK: Random histories

  private static let minute: Int64 = 60_000_000

  /// Returns the sums computed minute by minute: the highest-ranking source with a sample in a minute counts.
  private static func oracle(_ entries: [Entry], edges: [Int64]) -> [Int: Double] {
    var sums: [Int: Double] = [:]
    func bucket(_ time: Int64) -> Int? {
      (0..<edges.count - 1).first { edges[$0] <= time && time < edges[$0 + 1] }
    }
    var seen: Set<[Int64]> = []
    let counted = entries.filter { entry in
      entry.start == entry.end || seen.insert([Int64(entry.rank), entry.start, entry.end, Int64(entry.value)]).inserted
    }
    let long = counted.filter { $0.start < $0.end }
    for time in stride(from: edges[0], to: edges[edges.count - 1], by: Int(minute)) {
      let here = long.filter { $0.start <= time && time < $0.end }
      let highest = here.map(\.rank).min()
      for entry in here {
        guard let index = bucket(time) else { continue }
        sums[index, default: 0] +=
          entry.rank == highest ? entry.value * Double(minute) / Double(entry.end - entry.start) : 0
      }
      for entry in counted where entry.start == time && entry.end == time && entry.rank <= highest ?? .max {
        if let index = bucket(time) { sums[index, default: 0] += entry.value }
      }
    }
    return sums
  }

  private static func history(_ random: inout SeededGenerator) -> [Entry] {
    (0..<random.below(40)).map { _ in
      let start = Int64(random.below(300)) - 30
      let length = random.below(4) == 0 ? 0 : Int64(random.below(random.below(5) == 0 ? 300 : 20))
      return Entry(
        rank: random.below(4), start: start * minute, end: (start + length) * minute, value: Double(random.below(1000)))
    }
  }

  private static func edges(_ random: inout SeededGenerator) -> [Int64] {
    var edges: [Int64] = [0]
    for _ in 0...random.below(6) { edges.append(edges[edges.count - 1] + Int64(1 + random.below(60)) * minute) }
    return edges
  }

  @Test(arguments: 0..<400)
  func agreesWithTheOracle(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let (entries, edges) = (Self.history(&random), Self.edges(&random))
    let expected = Self.oracle(entries, edges: edges)
    let sums = Self.sweep(entries, edges: edges)
    #expect(Set(sums.map(\.index)) == Set(expected.keys))
    for (index, sum) in sums {
      #expect(abs(sum.value - (expected[index] ?? .nan)) <= 1e-6 * max(1, sum.value), "bucket \(index)")
    }
  }

  /// Above a certain number of concurrent samples, those of a source are combined.
  @Test func aCrowdIsCountedLikeAFew() {
    var random = SeededGenerator(seed: 7)
    let entries = (0..<300).map { number in
      Entry(
        rank: number % 3 == 0 ? 1 : 2, start: Int64(random.below(100)) * Self.minute,
        end: Int64(100 + random.below(100)) * Self.minute, value: Double(random.below(1000)))
    }
    let edges = stride(from: Int64(0), through: 240, by: 30).map { $0 * Self.minute }
    let expected = Self.oracle(entries, edges: edges)
    let sums = Self.sweep(entries, edges: edges)
    #expect(sums.count == expected.count)
    for (index, sum) in sums { #expect(abs(sum.value - (expected[index] ?? .nan)) <= 1e-6 * sum.value) }
  }

  @Test(arguments: 0..<200)
  func properties(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed) + 1000)
    let (entries, edges) = (Self.history(&random), Self.edges(&random))
    let whole = [edges[0], edges[edges.count - 1]]
    let day = Self.sweep(entries, edges: whole).first?.sum
    // The parts make the whole.
    let parts = Self.sweep(entries, edges: edges).reduce(0) { $0 + $1.sum.value }
    #expect(abs(parts - (day?.value ?? 0)) <= 1e-6 * max(1, parts))
    // The order of what begins at one time does not matter.
    let shuffled = Self.sweep(Array(entries.reversed()), edges: whole).first?.sum
    #expect(abs((shuffled?.value ?? 0) - (day?.value ?? 0)) <= 1e-6 * max(1, parts))
    // Nothing under what is covered changes anything.
    let cover = Entry(rank: 0, start: whole[0], end: whole[1], value: 5)
    #expect(
      Self.sweep(
        entries.map { Entry(rank: max($0.rank, 1), start: $0.start, end: $0.end, value: $0.value) } + [cover],
        edges: whole
      ).first?.sum.value == 5)
    // Of one source alone all counts, but for twins.
    let alone = entries.filter { $0.rank == 2 }
    let single = Self.sweep(alone, edges: [.min / 4, .max / 4]).first?.sum
    var seen: Set<[Int64]> = []
    let plain = alone.reduce(0.0) { sum, entry in
      let isNew =
        entry.start == entry.end || seen.insert([entry.start, entry.end, Int64(entry.value)]).inserted
      return sum + (isNew ? entry.value : 0)
    }
    #expect(abs((single?.value ?? 0) - plain) <= 1e-6 * max(1, plain))
  }
}

extension SeededGenerator {
  /// Returns a number from 0 to less than `bound`, or 0.
  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<max(bound, 1), using: &self) }
}
