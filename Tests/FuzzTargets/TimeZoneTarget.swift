import HealthModel

@testable import HealthAnalysis

extension FuzzTarget {
  /// Fuzzes the reader of time zone files: a file either is refused or gives days that follow each other without
  /// gaps.
  @Sendable static func timeZone(_ input: [UInt8]) {
    guard let zone = try? ZoneRules(tzif: input, name: "fuzzed") else { return }
    for seconds in [Int64.min, -62_135_596_800, -1, 0, 1_718_445_600, 13_569_465_600, .max / 2, .max] {
      require(ZoneRule.offsets.contains(zone.offset(at: seconds)), "an offset at \(seconds)")
    }
    // The input says where to look, since no two have their changes at one time.
    let first = input.suffix(12).reduce(0) { ($0 &* 31 &+ Int($1)) % 60_000 }
    var previous = zone.start(ofDay: first)
    for number in first..<first + 20 {
      let day = zone.day(number)
      require(day.lowerBound == previous, "day \(number) follows the one before")
      previous = day.upperBound
      guard !day.isEmpty else { continue }
      require(zone.dayNumber(at: day.lowerBound) >= number, "the date at the start of day \(number)")
      let range = Timestamp(seconds: day.lowerBound)..<Timestamp(seconds: day.upperBound)
      guard let hours = try? CalendarBuckets(.hour, in: zone, range) else {
        require(false, "the hours of day \(number)")
        return
      }
      require(hours.range == day.lowerBound * 1_000_000..<day.upperBound * 1_000_000, "hours make day \(number)")
      for index in 0..<hours.count {
        let hour = hours[index]
        require(hour.start < hour.end, "hour \(index) of day \(number)")
        require(hour.end.seconds - hour.start.seconds <= 3600, "hour \(index) of day \(number) is none longer")
      }
    }
  }
}
