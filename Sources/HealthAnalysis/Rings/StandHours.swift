/// The hours in which a person stood, each counted once, however many sources recorded it.
struct StandHours {
  /// `HKCategoryValueAppleStandHour.stood`; 1 is idle.
  private static let stood = 0.0

  private struct Hour: Hashable {
    /// Since 1970 by a clock of the zone.
    var local: Int64
    /// The hour that comes twice is two.
    var offset: Int
  }

  private let zone: ZoneRules
  private var hours: [Int: Set<Hour>] = [:]

  init(in zone: ZoneRules) { self.zone = zone }

  /// - Parameters:
  ///   - start: in microseconds.
  ///   - value: of a category.
  mutating func add(start: Int64, value: Double) {
    guard value == Self.stood else { return }
    let seconds = start >= 0 ? start / 1_000_000 : (start - 999_999) / 1_000_000
    let offset = zone.offset(at: seconds)
    let local = seconds + Int64(offset)
    let hour = local >= 0 ? local / 3600 : (local - 3599) / 3600
    hours[zone.dayNumber(at: seconds), default: []].insert(Hour(local: hour, offset: offset))
  }

  /// How many there are of each date on which there is one.
  var counts: [Int: Int] { hours.mapValues(\.count) }
}
