import HealthModel

/// The range of time in which a person's samples can lie.
///
/// A phone with a wrong clock, or a sender, may date a sample in the year 1 or 9999. A query without time limits must
/// not extend that far.
public enum PlausibleTime {
  /// 1900-01-01 in UTC: earlier than the birth of any person with a record.
  private static let earliest = Timestamp(seconds: -2_208_988_800)
  /// The margin in seconds for planned samples and for differing clocks and zones.
  private static let secondsAhead: Int64 = 366 * 86_400

  /// Returns the limits of a query.
  ///
  /// - Parameters:
  ///   - start: the start of the query, or `nil` if it names none.
  ///   - end: the end of the query, or `nil` if it names none.
  ///   - now: the current time.
  /// - Returns: the range from 1900 to a year ahead. A side is unlimited if the query names it, or if the other end
  ///   that the query names lies beyond it.
  public static func limits(from start: Timestamp?, to end: Timestamp?, now: Timestamp) -> Range<Timestamp> {
    let latest = Timestamp(seconds: max(now, earliest).seconds + secondsAhead)
    let isOpenBelow = start != nil || end.map { $0 <= earliest } ?? false
    let isOpenAbove = end != nil || start.map { $0 >= latest } ?? false
    return
      (isOpenBelow ? Timestamp(microseconds: .min) : earliest)..<(isOpenAbove ? Timestamp(microseconds: .max) : latest)
  }
}
