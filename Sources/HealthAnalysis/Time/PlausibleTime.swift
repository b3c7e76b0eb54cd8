import HealthModel

/// The time in which samples of a person can lie.
///
/// A phone whose clock is off, or a sender, may date a sample in the year 1 or 9999. What a question means that names no time must
/// not be stretched to there.
public enum PlausibleTime {
  /// 1900-01-01 in UTC: earlier than the birth of any person with a record.
  private static let earliest = Timestamp(seconds: -2_208_988_800)
  /// For what is planned, and for clocks and zones that differ.
  private static let secondsAhead: Int64 = 366 * 86_400

  /// What a question is about at most.
  ///
  /// - Parameters:
  ///   - start: of the question; `nil` where it names none.
  ///   - end: the same.
  ///   - now: when it is asked.
  /// - Returns: from 1900 to a year ahead; without a limit on a side that the question names, or beyond which it names the other.
  public static func limits(from start: Timestamp?, to end: Timestamp?, now: Timestamp) -> Range<Timestamp> {
    let latest = Timestamp(seconds: max(now, earliest).seconds + secondsAhead)
    let isOpenBelow = start != nil || end.map { $0 <= earliest } ?? false
    let isOpenAbove = end != nil || start.map { $0 >= latest } ?? false
    return
      (isOpenBelow ? Timestamp(microseconds: .min) : earliest)..<(isOpenAbove ? Timestamp(microseconds: .max) : latest)
  }
}
