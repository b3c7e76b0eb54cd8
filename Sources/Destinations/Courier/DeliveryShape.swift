import Cryptography
import Foundation
import HealthAnalysis
import HealthModel

/// In which shape a record travels to a place that takes samples: as it is, or as the numbers of hours or days; and in which
/// units.
///
/// A number travels as a sample of its hour or day, whose UUID is made of the store, the type and that time: an hour that
/// changes comes again under the same UUID, in place of what was there, and one that has lost all of its samples is deleted.
/// What has no numbers (sleep, workouts, routes) does not travel as any.
public struct DeliveryShape: Sendable {
  /// The source of such samples, which has no person's name.
  static let source = Source(name: "hpeer", bundleIdentifier: "hpeer.statistics")
  /// The years 1 to 9999, in days since 1970-01-01.
  private static let years = -719_162...2_932_896
  /// No sample of any sense changes more days.
  private static let mostDays = 3_660

  private let record: RecordReader
  /// `nil` for samples.
  private let size: BucketSize?
  private let units: [SampleType: String]
  /// Whose hours and days are to stay when all others are taken back; `nil` where numbers travel.
  private var staying: ZoneRules?

  /// `nil` where the record travels as it is.
  public init?(_ settings: CommonSettings, _ record: RecordReader) {
    (self.record, units) = (record, settings.units)
    size =
      switch settings.data {
      case .samples: nil
      case .hour: .hour
      case .day: .day
      }
    if size == nil, units.isEmpty { return nil }
  }

  /// Whether what travels is not in the record, but made of it.
  public var hasStatistics: Bool { size != nil }

  /// Takes back the numbers of hours and days that begin when none does in another zone, which is the person's home now.
  public func withdrawing(butThoseOf zone: ZoneRules) -> DeliveryShape {
    var shape = self
    shape.staying = zone
    return shape
  }

  /// What travels of a batch, which may be more than that has. Throws `StoreError`, `DecodingError`, `StatisticsError`.
  func applied(to batch: DeliveryBatch) async throws -> DeliveryBatch {
    guard let size else { return try converted(batch) }
    var coder = ChangeCoder()
    let times = ChangedTimes(batch)
    for type in times.types.sorted(by: { $0.rawValue < $1.rawValue }) {
      guard let entry = SampleTypeCatalogue.healthKit[type], entry.aggregation != nil, record.filter.passes(type) else {
        continue
      }
      for days in times.days(of: type, in: record.zone) where days.overlaps(Self.years) {
        let days = days.clamped(to: Self.years)
        let last = min(days.upperBound, days.lowerBound + Self.mostDays)
        try await add(size, of: type, days.lowerBound...last, times.ranges(of: type), to: &coder)
      }
    }
    return DeliveryBatch(changes: coder.changes, startsOver: batch.startsOver)
  }

  /// Adds the buckets of some days that any of the ranges touches.
  private func add(
    _ size: BucketSize, of type: SampleType, _ days: ClosedRange<Int>, _ ranges: [Range<Timestamp>],
    to coder: inout ChangeCoder
  ) async throws {
    let start = Timestamp(seconds: record.zone.start(ofDay: days.lowerBound))
    let end = Timestamp(seconds: record.zone.start(ofDay: days.upperBound + 1))
    guard start < end else { return }
    let buckets = try CalendarBuckets(size, in: record.zone, start..<end)
    if let staying { return withdraw(buckets, size, of: type, ranges, butThoseOf: staying, to: &coder) }
    let statistics = try await record.statistics(of: type, by: size, from: start, to: end)
    // A bucket that the selection cuts begins within the whole one.
    let found = Dictionary(
      statistics.values.map { (buckets.index(of: $0.bucket.start) ?? -1, $0) }, uniquingKeysWith: { $1 })
    for index in 0..<buckets.count {
      let bucket = buckets[index]
      guard ranges.contains(where: { $0.lowerBound < bucket.end && bucket.start < $0.upperBound }) else { continue }
      let uuid = uuid(type, size, bucket.start)
      if let value = found[index].flatMap({ Self.value($0.number) }), let unit = statistics.unit {
        let quantity = converted(Quantity(value.number, unit), of: type)
        try coder.add(
          Sample(
            uuid: uuid, type: type, start: bucket.start, end: bucket.end, source: Self.source,
            metadata: value.metadata, payload: .quantity(quantity)))
      } else {
        let reference = SampleReference(type: type, start: bucket.start, uuid: uuid)
        coder.add(Tombstone(sample: reference, deleted: .now))
      }
    }
  }

  private func withdraw(
    _ buckets: CalendarBuckets, _ size: BucketSize, of type: SampleType, _ ranges: [Range<Timestamp>],
    butThoseOf zone: ZoneRules, to coder: inout ChangeCoder
  ) {
    for index in 0..<buckets.count {
      let bucket = buckets[index]
      guard ranges.contains(where: { $0.lowerBound < bucket.end && bucket.start < $0.upperBound }) else { continue }
      let seconds = bucket.start.seconds - zone.start(ofDay: zone.dayNumber(at: bucket.start.seconds))
      if size == .hour ? seconds % 3_600 == 0 : seconds == 0 { continue }
      let reference = SampleReference(type: type, start: bucket.start, uuid: uuid(type, size, bucket.start))
      coder.add(Tombstone(sample: reference, deleted: .now))
    }
  }

  private static func value(_ number: BucketStatistics.Number) -> (number: Double, metadata: Metadata)? {
    switch number {
    case .sum(let sum):
      return sum.sum.isFinite ? (sum.sum, ["hpeer.statistic": .string("sum")]) : nil
    case .discrete(let values):
      let mean = values.mean ?? values.meanOfSamples
      return mean.isFinite ? (mean, ["hpeer.statistic": .string("mean")]) : nil
    }
  }

  private func uuid(_ type: SampleType, _ size: BucketSize, _ start: Timestamp) -> UUID {
    let text = "\(record.store.id.uuidString) \(type.rawValue) \(size.rawValue) \(start.seconds)"
    var bytes = Array(SHA256.hash(data: Data(text.utf8)).prefix(16))
    // A UUID of a kind of its own (RFC 9562, section 5.8).
    bytes[6] = bytes[6] & 0x0F | 0x80
    bytes[8] = bytes[8] & 0x3F | 0x80
    return bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
  }

  // MARK: Units

  private func converted(_ batch: DeliveryBatch) throws -> DeliveryBatch {
    guard batch.changes.types.contains(where: { units[$0] != nil }) else { return batch }
    var coder = ChangeCoder()
    for tombstone in batch.deletions { coder.add(tombstone) }
    for sample in try batch.additions() {
      var sample = sample
      if case .quantity(let quantity) = sample.payload {
        sample.payload = .quantity(converted(quantity, of: sample.type))
      }
      try coder.add(sample)
    }
    return DeliveryBatch(changes: coder.changes, startsOver: batch.startsOver)
  }

  /// In the unit that is asked for, where it can be said in it.
  private func converted(_ quantity: Quantity, of type: SampleType) -> Quantity {
    guard let unit = units[type], let value = UnitConversion.convert(quantity.value, from: quantity.unit, to: unit)
    else { return quantity }
    return Quantity(value, unit)
  }
}
