import BenchData
import HealthModel
import Testing

@Suite struct HealthHistoryTests {
  private static let count = 30_000
  private static let samples = Array(HealthHistory(seed: 7, count: count))

  @Test("The same seed gives the same samples, another seed others")
  func seeded() {
    #expect(Array(HealthHistory(seed: 7, count: 3_000)) == Array(HealthHistory(seed: 7, count: 3_000)))
    #expect(Array(HealthHistory(seed: 7, count: 10)) != Array(HealthHistory(seed: 8, count: 10)))
  }

  @Test("There are exactly as many as asked for, each with an identity of its own", arguments: [1, 2, 17, 1_000])
  func counted(_ count: Int) {
    for identity in HealthHistory.Identity.allCases {
      let samples = Array(HealthHistory(seed: 1, count: count, identity: identity))
      #expect(samples.count == count)
      #expect(Set(samples.map(\.reference)).count == count)
    }
  }

  @Test("They are mostly heart rate, energy, steps and distance, and a third has metadata")
  func mix() {
    let frequent: Set = [
      "HKQuantityTypeIdentifierHeartRate", "HKQuantityTypeIdentifierActiveEnergyBurned",
      "HKQuantityTypeIdentifierBasalEnergyBurned", "HKQuantityTypeIdentifierStepCount",
      "HKQuantityTypeIdentifierDistanceWalkingRunning",
    ]
    let most = Self.samples.count { frequent.contains($0.type.rawValue) }
    #expect((Self.count / 100 * 80...Self.count / 100 * 95).contains(most))
    let described = Self.samples.count { !$0.metadata.isEmpty }
    #expect((Self.count / 100 * 28...Self.count / 100 * 40).contains(described))
    #expect(Set(Self.samples.map(\.payload.kind)) == ["quantity", "category", "workout", "correlation"])
  }

  @Test("They are of the ten years from 2015 on, and what came live has microseconds and bundle identifiers")
  func time() {
    let years = Self.samples.map { $0.start.civil.year }
    #expect(years.min() == 2015)
    #expect((2024...2026).contains(years.max() ?? 0))
    let live = Self.samples.filter { $0.source.bundleIdentifier != nil }
    #expect((Self.count / 100 * 5...Self.count / 100 * 15).contains(live.count))
    #expect(live == Array(Self.samples.suffix(live.count)), "the import comes first")
    #expect(live.contains { $0.start.microseconds % 1_000_000 != 0 })
    let frequent = live.map(\.type)
    #expect(zip(frequent, frequent.dropFirst()).count { $0 != $1 } > live.count / 20, "the types are mixed")
    let imported = Self.samples.prefix(Self.count - live.count)
    #expect(imported.allSatisfy { $0.start.microseconds % 1_000_000 == 0 && $0.end >= $0.start })
  }

  @Test("An import's numbers have six significant digits, and correlations name members that are there")
  func content() {
    let references = Set(Self.samples.map(\.reference))
    for sample in Self.samples {
      switch sample.payload {
      case .quantity(let quantity) where sample.source.bundleIdentifier == nil:
        #expect(quantity.value == 0 || significantDigits(quantity.value) <= 6, "\(quantity.value)")
      case .correlation(let correlation):
        #expect(correlation.members.count == 2 && references.isSuperset(of: correlation.members))
      default: break
      }
    }
  }

  private func significantDigits(_ value: Double) -> Int {
    let digits = "\(value)".prefix { $0 != "e" }.filter(\.isNumber).drop { $0 == "0" }
    return "\(value)".hasSuffix(".0") ? digits.count - 1 : digits.count
  }
}
