import Cryptography
import Foundation
import HealthAnalysis
import HealthModel

/// The form in which a record is delivered to a place that accepts samples: unchanged or as hourly or daily
/// statistics, and in which units.
///
/// A statistic is delivered as a sample of its hour or day. Its UUID is derived from the store, the type and the
/// time. An hour that changes replaces its earlier sample, and an hour that has lost all samples is deleted. Types
/// without statistics (sleep, workouts, routes) are not delivered as statistics.
public struct DeliveryShape: Sendable {
  /// The source of statistics samples, which contains no person's name.
  static let source = Source(name: "hpeer", bundleIdentifier: "hpeer.statistics")
  /// The number of days whose statistics are read at once.
  private static let daysAtOnce = 3_660
  /// The longest sample that is delivered, in hours or days: five years of hours, 136 years of days.
  private static let mostBuckets: Int64 = 50_000

  private let record: RecordReader
  /// The length of the intervals; `nil` if samples are delivered unchanged.
  private let size: BucketSize?
  private let units: [SampleType: String]
  /// The time zone whose hours and days are kept when all others are withdrawn; `nil` in a normal delivery.
  private var staying: ZoneRules?

  /// Creates the shape that the settings ask for, or returns `nil` if the record is delivered unchanged.
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

  /// Whether statistics are delivered in place of the record's samples.
  public var hasStatistics: Bool { size != nil }

  /// Returns a shape that deletes hours and days that don't start with one in `zone`, the new home zone.
  public func withdrawing(butThoseOf zone: ZoneRules) -> DeliveryShape {
    var shape = self
    shape.staying = zone
    return shape
  }

  /// A batch after conversion to its delivered form.
  struct Shaped {
    /// The converted batch; it may have more changes than the batch of the record.
    var batch: DeliveryBatch
    /// The samples of the record whose hours and days are not delivered, with the reasons.
    var refused: [RefusedSample] = []
  }

  /// Converts a batch of the record to the shape of the destination. Throws `StoreError`, `DecodingError`, `StatisticsError`.
  func applied(to batch: DeliveryBatch) async throws -> Shaped {
    guard let size else { return Shaped(batch: try converted(batch)) }
    let plausible = PlausibleTime.limits(from: nil, to: nil, now: .now)
    let (sensible, refused) = divided(batch, size, plausible)
    var coder = ChangeCoder()
    let times = ChangedTimes(sensible, hasAnswers: false)
    let zone = record.zone
    let years = zone.dayNumber(at: plausible.lowerBound.seconds)...zone.dayNumber(at: plausible.upperBound.seconds)
    for type in times.types.sorted(by: { $0.rawValue < $1.rawValue }) {
      guard let entry = SampleTypeCatalogue.healthKit[type], entry.aggregation != nil, record.filter.passes(type) else {
        continue
      }
      for days in times.days(of: type, in: zone) where days.overlaps(years) {
        let days = days.clamped(to: years)
        for first in stride(from: days.lowerBound, through: days.upperBound, by: Self.daysAtOnce) {
          let last = min(days.upperBound, first + Self.daysAtOnce - 1)
          try await add(size, of: type, first...last, times.ranges(of: type), to: &coder)
        }
      }
    }
    return Shaped(batch: DeliveryBatch(changes: coder.changes, startsOver: batch.startsOver), refused: refused)
  }

  /// Returns the reason why a sample's hours or days are not delivered; `nil` if they are, or none are computed.
  func refusal(of sample: Sample) -> String? {
    size.flatMap { Self.refusal(sample.start, sample.end, $0, PlausibleTime.limits(from: nil, to: nil, now: .now)) }
  }

  private static func refusal(
    _ start: Timestamp, _ end: Timestamp, _ size: BucketSize, _ plausible: Range<Timestamp>
  ) -> String? {
    if !plausible.contains(start) { return "its time cannot be right: its \(size.rawValue)s are not sent" }
    let (length, isTooLong) = end.seconds.subtractingReportingOverflow(start.seconds)
    return isTooLong || length > longest(size) ? "it is too long to be sent as \(size.rawValue)s" : nil
  }

  /// Returns the length of ``mostBuckets`` in seconds.
  private static func longest(_ size: BucketSize) -> Int64 { mostBuckets * (size == .hour ? 3_600 : 86_400) }

  /// Removes the samples whose time is implausible and those that would change too many hours or days.
  private func divided(
    _ batch: DeliveryBatch, _ size: BucketSize, _ plausible: Range<Timestamp>
  ) -> (sensible: DeliveryBatch, refused: [RefusedSample]) {
    var changes = batch.changes
    var refused: [RefusedSample] = []
    changes.samples.removeAll { sample in
      guard let reason = Self.refusal(sample.start, sample.end, size, plausible) else { return false }
      let type = changes.types[Int(sample.type)]
      guard SampleTypeCatalogue.healthKit[type]?.aggregation != nil, record.filter.passes(type) else { return true }
      let reference = SampleReference(type: type, start: sample.start, uuid: sample.uuid)
      refused.append(RefusedSample(reference, reason: reason))
      return true
    }
    // Hours and days of other samples contain a share of a refused one, and must be computed again when it is deleted.
    let longest = Self.longest(size) * 1_000_000
    for index in changes.tombstones.indices {
      guard let end = changes.tombstones[index].end else { continue }
      changes.tombstones[index].end = min(end, changes.tombstones[index].start.advanced(by: longest))
    }
    return (DeliveryBatch(changes: changes, startsOver: batch.startsOver), refused)
  }

  /// Adds the buckets within `days` that overlap any of the ranges.
  ///
  /// - Parameter ranges: sorted by time, without overlaps.
  private func add(
    _ size: BucketSize, of type: SampleType, _ days: ClosedRange<Int>, _ ranges: [Range<Timestamp>],
    to coder: inout ChangeCoder
  ) async throws {
    let start = Timestamp(seconds: record.zone.start(ofDay: days.lowerBound))
    let end = Timestamp(seconds: record.zone.start(ofDay: days.upperBound + 1))
    guard start < end else { return }
    let buckets = try CalendarBuckets(size, in: record.zone, start..<end)
    if let staying { return withdraw(buckets, size, of: type, ranges, butThoseOf: staying, to: &coder) }
    let statistics = try await record.statistics(of: type, by: size, from: start, to: end, readings: .none)
    // A bucket that the filter cuts starts later than the whole bucket.
    let found = Dictionary(
      statistics.values.map { (buckets.index(of: $0.bucket.start) ?? -1, $0) }, uniquingKeysWith: { $1 })
    for index in buckets.indices(touchedBy: ranges) {
      let bucket = buckets[index]
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
    for index in buckets.indices(touchedBy: ranges) {
      let bucket = buckets[index]
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
    // A custom UUID, version 8 (RFC 9562, section 5.8).
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

  /// Converts a quantity to the configured unit, or returns it unchanged if that is not possible.
  private func converted(_ quantity: Quantity, of type: SampleType) -> Quantity {
    guard let unit = units[type], let value = UnitConversion.convert(quantity.value, from: quantity.unit, to: unit)
    else { return quantity }
    return Quantity(value, unit)
  }
}

extension CalendarBuckets {
  /// Returns the indices of the buckets that overlap any of the ranges.
  ///
  /// - Parameter ranges: sorted by time, without overlaps.
  fileprivate func indices(touchedBy ranges: [Range<Timestamp>]) -> [Int] {
    var touched: [Int] = []
    var next = ranges[...]
    for index in 0..<count {
      let bucket = self[index]
      next = next.drop { $0.upperBound <= bucket.start }
      guard let range = next.first else { break }
      if range.lowerBound < bucket.end { touched.append(index) }
    }
    return touched
  }
}
