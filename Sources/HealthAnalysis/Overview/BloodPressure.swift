import Foundation
import HealthModel
import HealthStore

/// A blood pressure measurement whose two values belong to the same correlation, or to the same source and instant.
public struct BloodPressure: Hashable, Sendable {
  public static let type = SampleType("HKCorrelationTypeIdentifierBloodPressure")
  private static let systolicType = SampleType("HKQuantityTypeIdentifierBloodPressureSystolic")
  private static let diastolicType = SampleType("HKQuantityTypeIdentifierBloodPressureDiastolic")
  /// The types of the two values.
  static let values: Set = [systolicType, diastolicType]
  private static let pageSize = 500

  public var instant: Timestamp
  /// The systolic pressure in mmHg.
  public var systolic: Double
  /// The diastolic pressure in mmHg.
  public var diastolic: Double
  /// The name of the source as people see it.
  public var source: String

  /// Returns all measurements in order of time. A measurement is left out if one of its values is missing.
  ///
  /// - Parameter sources: the names of sources, or `nil` for all.
  /// - Throws: ``StoreError``.
  public static func all(
    in range: Range<Timestamp>, from sources: Set<String>? = nil, in store: HealthStore
  ) async throws(StoreError) -> [BloodPressure] {
    var (found, keys, members): ([BloodPressure], Set<Key>, Set<UUID>) = ([], [], [])
    try await forEach(of: type, range, sources, store) { sample throws(StoreError) in
      guard let one = try await BloodPressure(sample, store) else { return }
      found.append(one)
      keys.insert(Key(sample))
      if case .correlation(let correlation) = sample.payload { members.formUnion(correlation.members.map(\.uuid)) }
    }
    // Some apps write the two values without a correlation. If a source has several values at one instant, it is
    // unknown which belong together.
    var loose: [Key: (systolic: [Double], diastolic: [Double])] = [:]
    try await forEach(of: systolicType, range, sources, store) { sample throws(StoreError) in
      guard !keys.contains(Key(sample)), !members.contains(sample.uuid), let value = pressure(sample) else { return }
      loose[Key(sample), default: ([], [])].systolic.append(value)
    }
    if !loose.isEmpty {
      try await forEach(of: diastolicType, range, sources, store) { sample throws(StoreError) in
        guard !members.contains(sample.uuid), let value = pressure(sample) else { return }
        loose[Key(sample)]?.diastolic.append(value)
      }
    }
    for (key, values) in loose where Set(values.systolic).count == 1 && Set(values.diastolic).count == 1 {
      found.append(
        BloodPressure(
          instant: key.instant, systolic: values.systolic[0], diastolic: values.diastolic[0], source: key.source))
    }
    return found.sorted { ($0.instant, $0.source) < ($1.instant, $1.source) }
  }

  /// Returns the last measurement before an instant.
  ///
  /// - Throws: ``StoreError``.
  public static func newest(
    before end: Timestamp, _ sources: Set<String>? = nil, in store: HealthStore
  ) async throws(StoreError) -> BloodPressure? {
    let range = Timestamp(microseconds: .min)..<max(end, Timestamp(microseconds: .min + 1))
    var newest: BloodPressure?
    for type in [type, systolicType] {
      guard let sample = try await store.samples.page(of: type, in: range, from: sources, limit: 1).first else {
        continue
      }
      // Look at the preceding day too, because the newest measurement may lack a value.
      let start = sample.start.seconds.subtractingReportingOverflow(86_400)
      let last = try await all(
        in: Timestamp(seconds: start.overflow ? sample.start.seconds : start.partialValue)..<end, from: sources,
        in: store
      ).last
      if let last, newest.map({ $0.instant < last.instant }) ?? true { newest = last }
    }
    return newest
  }

  private struct Key: Hashable {
    var instant: Timestamp
    var source: String

    init(_ sample: Sample) { (instant, source) = (sample.start, sample.source.name) }
  }

  /// Calls `body` for each sample, newest first.
  private static func forEach(
    of type: SampleType, _ range: Range<Timestamp>, _ sources: Set<String>?, _ store: HealthStore,
    _ body: (Sample) async throws(StoreError) -> Void
  ) async throws(StoreError) {
    var offset = 0
    while true {
      let page = try await store.samples.page(of: type, in: range, from: sources, offset: offset, limit: pageSize)
      for sample in page { try await body(sample) }
      offset += page.count
      if page.count < pageSize { return }
    }
  }

  /// Returns the pressure in mmHg, or `nil` if the sample has none.
  private static func pressure(_ sample: Sample) -> Double? {
    guard case .quantity(let quantity) = sample.payload,
      let value = UnitConversion.convert(quantity.value, from: quantity.unit, to: "mmHg"), value.isFinite
    else { return nil }
    return value
  }

  private init(instant: Timestamp, systolic: Double, diastolic: Double, source: String) {
    (self.instant, self.systolic, self.diastolic, self.source) = (instant, systolic, diastolic, source)
  }

  /// Creates a measurement from a correlation, or returns `nil` if a value is missing.
  private init?(_ sample: Sample, _ store: HealthStore) async throws(StoreError) {
    guard case .correlation(let correlation) = sample.payload else { return nil }
    var values: [SampleType: Double] = [:]
    for reference in correlation.members.prefix(4)
    where [Self.systolicType, Self.diastolicType].contains(reference.type) {
      guard let member = try await store.samples.sample(reference) else { continue }
      values[reference.type] = Self.pressure(member)
    }
    guard let systolic = values[Self.systolicType], let diastolic = values[Self.diastolicType] else { return nil }
    self.init(instant: sample.start, systolic: systolic, diastolic: diastolic, source: sample.source.name)
  }
}
