import HealthAnalysis
import HealthModel
import HealthStore

/// A reader of a report's content from a store.
struct ReportReader {
  let store: HealthStore
  let zone: ZoneRules
  /// The days, counted since 1970-01-01.
  let days: ClosedRange<Int>
  let sources: Set<String>?
  /// A function that returns the unit for a type, given the unit of its statistics.
  let unit: @Sendable (SampleType, String) -> String

  private static let electrocardiogram = SampleType("HKDataTypeIdentifierElectrocardiogram")
  private static let listedElectrocardiograms = 4

  /// The types with their own place in a report: measurements of the body, and activity.
  private static let types = [
    "RestingHeartRate", "HeartRate", "HeartRateVariabilitySDNN", "OxygenSaturation", "RespiratoryRate",
    "BodyTemperature", "BloodGlucose", "BodyMass", "BodyMassIndex", "BodyFatPercentage", "VO2Max", "StepCount",
    "DistanceWalkingRunning", "AppleExerciseTime", "ActiveEnergyBurned",
  ].map { SampleType("HKQuantityTypeIdentifier" + $0) }
  /// The maximum number of other types, which have a table of their own.
  private static let mostOthers = 20
  private static let pressures = ["Systolic", "Diastolic"].map {
    SampleType("HKQuantityTypeIdentifierBloodPressure" + $0)
  }

  private var range: Range<Timestamp> {
    Timestamp(seconds: zone.start(ofDay: days.lowerBound))..<Timestamp(seconds: zone.start(ofDay: days.upperBound + 1))
  }

  func content(made: Timestamp) async throws -> ReportContent {
    var measures: [ReportContent.Measure] = []
    let rollups = Rollups(of: store)
    for type in Self.types {
      if let measure = try await measure(type, rollups, now: made) { measures.append(measure) }
    }
    let mainMeasures = measures.count
    for type in try await others() where measures.count < mainMeasures + Self.mostOthers {
      guard var measure = try await measure(type, rollups, now: made) else { continue }
      measure.isOther = true
      measures.append(measure)
    }
    var sleep = SleepQuery(in: zone)
    (sleep.firstDay, sleep.lastDay, sleep.sources) = (days.lowerBound, days.upperBound, sources)
    var workouts = WorkoutQuery()
    (workouts.range, workouts.sources) = (range, sources)
    var content = ReportContent(
      days: days, zone: zone, person: try await store.person(), made: made, measures: measures,
      pressures: try await BloodPressure.all(in: range, from: sources, in: store),
      nights: try await sleep.run(on: rollups), workouts: try await workouts.run(on: rollups).filter(\.isCounted),
      electrocardiograms: try await electrocardiograms())
    if content.isEmpty { content.recorded = try await recorded() }
    return content
  }

  /// Returns the other types with numeric values in the record, in the order of the catalogue.
  private func others() async throws -> [SampleType] {
    let known = Set(try await store.samples.typeCounts().map(\.type))
    let held = known.union(AppReadings.answered(by: known)).subtracting(Self.types + Self.pressures)
    var others: [SampleType] = []
    for entry in SampleTypeCatalogue.healthKit.entries where entry.aggregation != nil && held.contains(entry.type) {
      for type in [entry.type] + AppReadings.types(of: entry.type) where known.contains(type) {
        guard try await store.samples.extent(of: type, in: range) != nil else { continue }
        others.append(entry.type)
        break
      }
    }
    return others
  }

  /// Returns the time range of all samples, or `nil` if there are none.
  private func recorded() async throws -> ClosedRange<Timestamp>? {
    var recorded: ClosedRange<Timestamp>?
    for count in try await store.samples.typeCounts() {
      guard let extent = try await store.samples.extent(of: count.type) else { continue }
      recorded =
        recorded.map {
          min($0.lowerBound, extent.lowerBound)...max($0.upperBound, extent.upperBound)
        } ?? extent
    }
    return recorded
  }

  private func measure(_ type: SampleType, _ rollups: Rollups, now: Timestamp) async throws -> ReportContent.Measure? {
    var query = StatisticsQuery(type, by: .day, in: zone, now: now)
    (query.start, query.end, query.sources) = (range.lowerBound, range.upperBound, sources)
    let found = try await query.run(on: rollups)
    guard !found.values.isEmpty else { return nil }
    let statistics = found.unit.flatMap { found.converted(to: unit(type, $0)) } ?? found
    var days: [Int: ReportContent.Measure.Value] = [:]
    for value in statistics.values {
      let day = zone.dayNumber(at: value.bucket.start.seconds)
      switch value.number {
      case .sum(let sum):
        // The sum of a partial day is too low, but a single day is better than no data.
        guard !value.isPartial || statistics.values.count == 1 else { continue }
        days[day] = .init(low: sum.sum, middle: sum.sum, high: sum.sum, last: sum.sum)
      case .discrete(let numbers):
        days[day] = .init(
          low: numbers.minimum, middle: numbers.mean ?? numbers.meanOfSamples, high: numbers.maximum,
          last: numbers.last)
      }
    }
    guard !days.isEmpty else { return nil }
    let samples = try await samples(of: type)
    return ReportContent.Measure(
      type: type, name: SampleTypeCatalogue.healthKit[type]?.displayName ?? type.shortName,
      unit: MolarUnit.short(statistics.unit ?? ""), isSum: statistics.aggregation == .cumulative, days: days,
      count: numbers(in: statistics) ?? samples.count,
      sources: samples.sources)
  }

  /// Returns the number of samples in the means, or `nil` for sums.
  private func numbers(in statistics: Statistics) -> Int? {
    statistics.values.reduce(0) { count, bucket in
      guard case .discrete(let numbers) = bucket.number else { return nil }
      return count.map { $0 + numbers.count }
    }
  }

  private func samples(of type: SampleType) async throws -> (count: Int, sources: [String]) {
    let time = range.lowerBound.microseconds..<range.upperBound.microseconds
    return try await store.samples.numbers { [sources] reader in
      var counts: [Int64: Int] = [:]
      try reader.forEach(type, overlapping: time, from: sources) { counts[$0.source, default: 0] += 1 }
      let names = Dictionary(
        try reader.sources(of: type).map { ($0.id, $0.source.name) }, uniquingKeysWith: { first, _ in first })
      var byName: [String: Int] = [:]
      for (id, count) in counts { byName[names[id] ?? "", default: 0] += count }
      let ordered = byName.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
      return (counts.values.reduce(0, +), ordered)
    }
  }

  private func electrocardiograms() async throws -> [(instant: Timestamp, source: String, value: Electrocardiogram)] {
    let page = try await store.samples.page(
      of: Self.electrocardiogram, in: range, from: sources, limit: Self.listedElectrocardiograms)
    return page.compactMap { sample in
      guard case .electrocardiogram(let value) = sample.payload else { return nil }
      return (sample.start, sample.source.name, value)
    }
  }
}
