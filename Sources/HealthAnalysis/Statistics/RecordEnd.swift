import HealthModel
import HealthStore

/// The instant up to which a record is known.
///
/// The day on which an export was made, or a phone synced last, is not a whole day: what was recorded later that day is not
/// here yet. One type alone does not tell where that was, as nobody swims every day. So a HealthKit type is known until its own
/// newest sample, or the newest of those types that a phone or a watch records every day if that is later; in a record without
/// any of these, until the newest sample of any HealthKit type. A type of an app that sends, such as `hae.step_count`, is known
/// until the newest sample of that app's types.
///
/// The date of an export is not asked: machines with equal records have imported different ones, and must say the same.
public struct RecordEnd {
  private static let daily = [
    "StepCount", "DistanceWalkingRunning", "HeartRate", "ActiveEnergyBurned", "BasalEnergyBurned", "AppleStandTime",
  ].map { SampleType("HKQuantityTypeIdentifier" + $0) }

  /// A phone's clock may be that far ahead. What is dated later proves nothing.
  private static let secondsAhead: Int64 = 86_400

  private let reader: NumberReader
  private let now: Timestamp
  private var limit: Timestamp { Timestamp(seconds: now.seconds + Self.secondsAhead) }

  /// - Parameter now: when the question is asked.
  public init(_ reader: NumberReader, now: Timestamp) {
    (self.reader, self.now) = (reader, now)
  }

  /// The instant up to which the record of a type is known; `nil` where nothing says it.
  public func of(_ type: SampleType) throws -> Timestamp? {
    let own = try newest([type])
    let family = Self.family(of: type)
    guard family == Self.healthKit else { return try later(own, newest(ofFamily: family)) }
    let daily = try newest(Self.daily)
    return try later(own, daily ?? newest(ofFamily: family))
  }

  /// The instant up to which days as a whole are known, and no later than now: the newest sample of what devices record every
  /// day, else of any type. `nil` of a record without samples.
  public func ofDays() throws -> Timestamp? {
    try (newest(Self.daily) ?? newest(reader.knownTypes())).map { min($0, now) }
  }

  /// Marks those buckets of a type as partial that end after the record does, so that more may still come to them.
  ///
  /// - Parameter values: in order of time.
  func mark(_ values: inout [BucketStatistics], of type: SampleType) throws {
    // In the middle of a record, the type's own next sample answers.
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

  /// The part of a type's name that says who defines it: `HK`, `hae`.
  private static func family(of type: SampleType) -> Substring {
    type.rawValue.hasPrefix(healthKit) ? healthKit : type.rawValue.prefix { $0 != "." }
  }
}
