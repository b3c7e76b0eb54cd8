import Foundation
import HealthModel
import HealthStore
import TestSupport

@testable import HealthAnalysis

/// A store with random changes, and queries about it.
struct RollupHistory {
  static let steps = SampleType("HKQuantityTypeIdentifierStepCount")
  static let heartRate = SampleType("HKQuantityTypeIdentifierHeartRate")
  static let sound = SampleType("HKQuantityTypeIdentifierEnvironmentalAudioExposure")
  static let mass = SampleType("HKQuantityTypeIdentifierBodyMass")
  static let types = [
    (steps, ["count"]), (heartRate, ["count/min", "count/s", "kg"]), (sound, ["dBASPL"]), (mass, ["kg", "lb", "g"]),
  ]
  static let zones = ["Europe/Berlin", "UTC", "Asia/Kathmandu", "Australia/Lord_Howe", "America/Sao_Paulo"]
  private static let sources = [
    Source(name: "Watch", bundleIdentifier: "com.apple.health.W", version: "10"),
    Source(name: "Watch"), Source(name: "iPhone", bundleIdentifier: "com.apple.health.P"),
    Source(name: "Pedometer", bundleIdentifier: "org.example.steps"), Source(name: "Scale"),
  ]
  private static let devices: [Device?] = [
    nil, Device(name: "Apple Watch", model: "Watch", softwareVersion: "10"), Device(name: "iPhone", model: "iPhone"),
  ]

  let directory: String
  var generator: SeededGenerator
  /// The samples that were added and can be deleted.
  private var known: [Sample] = []

  init(directory: String, seed: UInt64) {
    self.directory = directory
    generator = SeededGenerator(seed: seed)
  }

  /// Returns a time within some days around a clock change, concentrated on a few of them.
  private mutating func time() -> Timestamp {
    // 2024-10-20.
    let day: Int64 = 1_729_382_400_000_000
    let offset =
      generator.oneIn(4) ? Int64.random(in: 0..<14, using: &generator) : Int64.random(in: 6..<8, using: &generator)
    let second = Int64.random(in: 0..<86_400, using: &generator)
    let rounded = generator.oneIn(3) ? second / 900 * 900 : second
    let fraction = generator.oneIn(4) ? Int64.random(in: 0..<1_000_000, using: &generator) : 0
    return Timestamp(microseconds: day + offset * 86_400_000_000 + rounded * 1_000_000 + fraction)
  }

  private mutating func sample() -> Sample {
    let (type, units) = generator.pick(Self.types)
    let start = time()
    let lengths: [Int64] = [0, 0, 1, 7, 300, 3600, 40_000, 86_400]
    var length = generator.pick(lengths) * 1_000_000
    if generator.oneIn(3) { length += Int64.random(in: 0..<600_000_000, using: &generator) }
    // Too long for cells, now and then.
    if generator.oneIn(300) { length = 40 * 86_400_000_000 }
    let values: [Double] = [61, 60, 72.5, 70, 64.25]
    var value = generator.pick(values)
    if generator.oneIn(40) { value = .nan }
    return Sample(
      uuid: UUID(from: &generator), type: type, start: start, end: Timestamp(microseconds: start.microseconds + length),
      source: generator.pick(Self.sources), device: generator.pick(Self.devices),
      metadata: generator.oneIn(12) ? ["HKWasUserEntered": .bool(true)] : generator.oneIn(3) ? ["a": "b"] : [:],
      payload: .quantity(Quantity(value, generator.pick(units))))
  }

  mutating func samples(_ count: Int) -> [Sample] { (0..<count).map { _ in sample() } }

  /// Makes a random change to the store.
  mutating func step(_ store: HealthStore) async throws {
    switch Int.random(in: 0..<10, using: &generator) {
    case 0...5:
      var samples = (0..<Int.random(in: 1...12, using: &generator)).map { _ in sample() }
      // The same again, from elsewhere.
      if let other = samples.first, generator.oneIn(3) {
        var twin = other
        twin.uuid = UUID(from: &generator)
        samples.append(twin)
      }
      known += samples
      try await store.apply(ChangeBatch(additions: samples))
    case 6, 7:
      let gone = (0..<Int.random(in: 1...4, using: &generator)).compactMap { _ in known.randomElement(using: &generator)
      }
      try await store.apply(
        ChangeBatch(deletions: gone.map { Tombstone(sample: $0.reference, deleted: Timestamp(seconds: 1)) }))
    case 8:
      // Another record's beginning changes which source is ranked first.
      var early = sample()
      // 2020-01-01.
      early.start = Timestamp(seconds: 1_577_836_800)
      early.end = early.start
      known.append(early)
      try await store.apply(ChangeBatch(additions: [early]))
    case 9 where generator.oneIn(2):
      let name = generator.oneIn(3) ? nil : generator.pick(Self.sources).name
      try await store.settings.setFirstSource(name, of: Self.steps)
    default:
      // A finer copy of something takes its place.
      guard var copy = known.randomElement(using: &generator) else { return }
      copy.start.microseconds += 250_000
      copy.end.microseconds += 90_000_000
      copy.metadata = ["more": "than before", "and": "more"]
      try await store.apply(ChangeBatch(additions: [copy]))
    }
  }

  mutating func query() throws -> StatisticsQuery {
    let zone = try ZoneRules(named: generator.pick(Self.zones))
    var query = StatisticsQuery(
      generator.pick(Self.types).0, by: generator.pick(BucketSize.allCases), in: zone, now: Timestamp(seconds: 0))
    if generator.oneIn(2) { query.start = time() }
    if generator.oneIn(2) { query.end = time() }
    query.weekStartsOnSunday = generator.oneIn(2)
    return query
  }
}

extension UUID {
  fileprivate init(from generator: inout SeededGenerator) {
    let (high, low) = (generator.next(), generator.next())
    var bytes: [UInt8] = []
    for word in [high, low] { withUnsafeBytes(of: word) { bytes += $0 } }
    // As HealthKit's are: version 4.
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    self = bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }
}

extension Statistics {
  /// Returns whether two results are equal, except for rounding when numbers are added in a different order.
  func isNearly(_ other: Statistics) -> Bool {
    var (one, two) = (self, other)
    guard one.values.count == two.values.count else { return false }
    for index in one.values.indices where !one.values[index].number.isNearly(two.values[index].number) { return false }
    for index in one.values.indices { one.values[index].number = two.values[index].number }
    two.values = one.values
    // Where nothing is, nobody has looked for units.
    return one == two
  }
}

extension Statistics {
  /// Returns a description of the differences.
  func difference(from other: Statistics) -> String {
    let buckets = Dictionary(uniqueKeysWithValues: values.map { ($0.bucket.start, $0) })
    let others = Dictionary(uniqueKeysWithValues: other.values.map { ($0.bucket.start, $0) })
    let lines = Set(buckets.keys).union(others.keys).sorted().compactMap { start -> String? in
      if let one = buckets[start], let two = others[start], one.number.isNearly(two.number) { return nil }
      return
        "\(start.iso8601): \(buckets[start].map { "\($0.number)" } ?? "none") / \(others[start].map { "\($0.number)" } ?? "none")"
    }
    let leftOut = "left out \(withoutNumber), \(withoutUnit) / \(other.withoutNumber), \(other.withoutUnit)"
    return ([leftOut, "\(unit ?? "-") / \(other.unit ?? "-")"] + lines.prefix(4)).joined(separator: "\n")
  }
}

extension BucketStatistics.Number {
  fileprivate func isNearly(_ other: Self) -> Bool {
    switch (self, other) {
    case (.sum(var one), .sum(let two)):
      guard near(one.sum, two.sum) else { return false }
      one.sum = two.sum
      return one == two
    case (.discrete(var one), .discrete(let two)):
      guard near(one.meanOfSamples, two.meanOfSamples), near(one.mean ?? -1, two.mean ?? -1) else { return false }
      (one.meanOfSamples, one.mean) = (two.meanOfSamples, two.mean)
      return one == two
    default: return false
    }
  }

  private func near(_ one: Double, _ two: Double) -> Bool { abs(one - two) <= 1e-9 * max(1, abs(one), abs(two)) }
}
