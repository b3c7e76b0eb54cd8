import HealthModel
import HealthStore

/// The instant up to which a record is known.
///
/// The day of an export or of a phone's last sync is incomplete: samples that were recorded later that day are missing. The
/// newest sample of one type does not show the end of the record, because rare types have no sample on most days.
///
/// The record of a HealthKit type ends at the later of two instants: the newest sample of the type, and the newest sample of the
/// types that phones and watches record every day. In a record without any of these, the newest sample of any HealthKit type
/// counts instead. The record of an app's type, such as `hae.step_count`, ends at the newest sample of all types of that app.
///
/// The dates of imported exports are not used: machines with equal records may have imported different exports, and must give
/// equal answers.
public struct RecordEnd {
  /// The types that phones and watches record every day.
  private static let daily = [
    "StepCount", "DistanceWalkingRunning", "HeartRate", "ActiveEnergyBurned", "BasalEnergyBurned", "AppleStandTime",
  ].map { SampleType("HKQuantityTypeIdentifier" + $0) }

  /// The tolerance for clocks that are ahead, in seconds. Samples that start later are ignored.
  private static let secondsAhead: Int64 = 86_400

  private let reader: NumberReader
  private let now: Timestamp
  private var limit: Timestamp { Timestamp(seconds: now.seconds + Self.secondsAhead) }

  /// Creates a reader of record ends.
  ///
  /// - Parameter now: the current time.
  public init(_ reader: NumberReader, now: Timestamp) {
    (self.reader, self.now) = (reader, now)
  }

  /// Returns the instant up to which the record of a type is known, or `nil` if there are no samples.
  public func of(_ type: SampleType) throws -> Timestamp? {
    let own = try newest([type])
    let family = Self.family(of: type)
    guard family == Self.healthKit else { return try later(own, newest(ofFamily: family)) }
    let daily = try newest(Self.daily)
    return try later(own, daily ?? newest(ofFamily: family))
  }

  /// Returns the instant up to which days are known, at most now: the newest sample of the types recorded every day,
  /// or else of any type. Returns `nil` for a record without samples.
  public func ofDays() throws -> Timestamp? {
    try (newest(Self.daily) ?? newest(reader.knownTypes())).map { min($0, now) }
  }

  /// Marks the buckets of a type that end after the record as partial, because more samples may follow.
  ///
  /// - Parameter values: in order of time.
  func mark(_ values: inout [BucketStatistics], of type: SampleType) throws {
    // In the middle of a record, the next sample of the type suffices.
    guard let last = values.last, try newest([type]).map({ $0 < last.bucket.end }) ?? true, let end = try of(type)
    else { return }
    for index in values.indices.reversed() {
      guard end < values[index].bucket.end else { return }
      values[index].isPartial = true
    }
  }

  private func newest(_ types: [SampleType]) throws -> Timestamp? {
    try types.compactMap { try reader.newestStart(of: $0, before: limit) }.max()
  }

  private func newest(ofFamily family: Substring) throws -> Timestamp? {
    try newest(reader.knownTypes().filter { Self.family(of: $0) == family })
  }

  private func later(_ one: Timestamp?, _ other: Timestamp?) -> Timestamp? { [one, other].compactMap(\.self).max() }

  private static let healthKit: Substring = "HK"

  /// Returns the prefix of a type's name that tells who defines it: `HK`, `hae`.
  private static func family(of type: SampleType) -> Substring {
    type.rawValue.hasPrefix(healthKit) ? healthKit : type.rawValue.prefix { $0 != "." }
  }
}
