import HealthModel
import HealthStore

/// One measurement: both of its values are of one correlation.
public struct BloodPressure: Hashable, Sendable {
  public static let type = SampleType("HKCorrelationTypeIdentifierBloodPressure")
  private static let systolicType = SampleType("HKQuantityTypeIdentifierBloodPressureSystolic")
  private static let diastolicType = SampleType("HKQuantityTypeIdentifierBloodPressureDiastolic")
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
    var found: [BloodPressure] = []
    var offset = 0
    while true {
      let page = try await store.samples.page(of: type, in: range, from: sources, offset: offset, limit: pageSize)
      for sample in page {
        if let one = try await BloodPressure(sample, store) { found.append(one) }
      }
      offset += page.count
      if page.count < pageSize { return found.reversed() }
    }
  }

  /// The last one before an instant. Throws ``StoreError``.
  public static func newest(
    before end: Timestamp, _ sources: Set<String>? = nil, in store: HealthStore
  ) async throws(StoreError) -> BloodPressure? {
    let range = Timestamp(microseconds: .min)..<max(end, Timestamp(microseconds: .min + 1))
    for sample in try await store.samples.page(of: type, in: range, from: sources, limit: 10) {
      if let one = try await BloodPressure(sample, store) { return one }
    }
    return nil
  }

  /// `nil` for what does not say both.
  private init?(_ sample: Sample, _ store: HealthStore) async throws(StoreError) {
    guard case .correlation(let correlation) = sample.payload else { return nil }
    var values: [SampleType: Double] = [:]
    for reference in correlation.members.prefix(4)
    where [Self.systolicType, Self.diastolicType].contains(reference.type) {
      guard let member = try await store.samples.sample(reference), case .quantity(let quantity) = member.payload,
        let value = UnitConversion.convert(quantity.value, from: quantity.unit, to: "mmHg"), value.isFinite
      else { continue }
      values[reference.type] = value
    }
    guard let systolic = values[Self.systolicType], let diastolic = values[Self.diastolicType] else { return nil }
    (instant, source) = (sample.start, sample.source.name)
    (self.systolic, self.diastolic) = (systolic, diastolic)
  }
}
