/// A counter of the hours in which a person stood. Each hour counts once, regardless of how many sources recorded it.
struct StandHours {
  /// `HKCategoryValueAppleStandHour.stood`; 1 is idle.
  private static let stood = 0.0

  private struct Hour: Hashable {
    /// The hours since 1970 in local time.
    var local: Int64
    /// The UTC offset, which distinguishes the two occurrences of a repeated hour.
    var offset: Int
  }

  private let zone: ZoneRules
  private var hours: [Int: Set<Hour>] = [:]

  init(in zone: ZoneRules) { self.zone = zone }

  /// Adds a stand hour sample.
  ///
  /// - Parameters:
  ///   - start: microseconds since 1970.
  ///   - value: the category value.
  mutating func add(start: Int64, value: Double) {
    guard value == Self.stood else { return }
    let seconds = start >= 0 ? start / 1_000_000 : (start - 999_999) / 1_000_000
    let offset = zone.offset(at: seconds)
    let local = seconds + Int64(offset)
    let hour = local >= 0 ? local / 3600 : (local - 3599) / 3600
    hours[zone.dayNumber(at: seconds), default: []].insert(Hour(local: hour, offset: offset))
  }

  /// The number of stand hours of each date that has any.
  var counts: [Int: Int] { hours.mapValues(\.count) }
}
