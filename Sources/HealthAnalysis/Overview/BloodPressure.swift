import Foundation
import HealthModel
import HealthStore

/// One measurement: both of its values are of one correlation, or of one source and instant.
public struct BloodPressure: Hashable, Sendable {
  public static let type = SampleType("HKCorrelationTypeIdentifierBloodPressure")
  private static let systolicType = SampleType("HKQuantityTypeIdentifierBloodPressureSystolic")
  private static let diastolicType = SampleType("HKQuantityTypeIdentifierBloodPressureDiastolic")
  /// The types of the two numbers.
  static let values: Set = [systolicType, diastolicType]
  private static let pageSize = 500

  public var instant: Timestamp
  /// In mmHg.
  public var systolic: Double
  /// In mmHg.
  public var diastolic: Double
  /// As people see it.
  public var source: String

  /// In the order of time; of those whose two values are here. Throws ``StoreError``.
  ///
  /// - Parameter sources: their names; `nil` for all.
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
    // Some apps write the two numbers, and nothing that says that they are one measurement.
    // Of two in one instant nobody knows which belong together.
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

  /// The last one before an instant. Throws ``StoreError``.
  public static func newest(
    before end: Timestamp, _ sources: Set<String>? = nil, in store: HealthStore
  ) async throws(StoreError) -> BloodPressure? {
    let range = Timestamp(microseconds: .min)..<max(end, Timestamp(microseconds: .min + 1))
    var newest: BloodPressure?
    for type in [type, systolicType] {
      guard let sample = try await store.samples.page(of: type, in: range, from: sources, limit: 1).first else {
        continue
      }
      // The day before it, as the newest may lack one of its values.
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

  /// Newest first.
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

  /// In mmHg; `nil` for what says none.
  private static func pressure(_ sample: Sample) -> Double? {
    guard case .quantity(let quantity) = sample.payload,
      let value = UnitConversion.convert(quantity.value, from: quantity.unit, to: "mmHg"), value.isFinite
    else { return nil }
    return value
  }

  private init(instant: Timestamp, systolic: Double, diastolic: Double, source: String) {
    (self.instant, self.systolic, self.diastolic, self.source) = (instant, systolic, diastolic, source)
  }

  /// `nil` for what does not say both.
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
