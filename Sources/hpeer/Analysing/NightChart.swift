import HealthAnalysis
import HealthModel
import Terminal

/// Nights as floating bars, from going to bed to getting up.
struct NightChart {
  let nights: [Night]
  let zone: ZoneRules

  private static let kinds: [SleepStage: Int] = [
    .asleepDeep: 0, .asleepCore: 1, .asleepUnspecified: 1, .asleepREM: 2, .awake: 3,
  ]

  func print() throws {
    guard let first = nights.first, let last = nights.last else { return Console.say("No sleep in this range.") }
    try Console.print("sleep, hours, \(PlainText.escaped(zone.name, limit: 60))")
    var chart = SpanChart()
    let found = Dictionary(nights.map { ($0.day, $0.main) }, uniquingKeysWith: { $1 })
    // A night without samples has a line all the same, so that it is seen.
    for day in first.day...last.day {
      guard let session = found[day] else {
        chart.append(CalendarDay(day).text, [], "")
        continue
      }
      chart.append(CalendarDay(day).text, parts(session, day), session.asleep.map(DurationText.hours) ?? "-")
    }
    try Console.print(chart: { width, style, usesUTF8 in
      chart.rendered(width: width, style: style, usesUTF8: usesUTF8, axis: Self.clock)
    })
    let marks = SpanChart.marks(usesUTF8: Console.capabilities.usesUTF8)
    Console.say("\(marks[0]) deep  \(marks[1]) core  \(marks[2]) REM  \(marks[3]) awake or in bed")
    let naps = nights.reduce(0) { $0 + $1.naps.count }
    if naps > 0 { Console.say("Not drawn: \(HumanFormat.count(naps, "nap")); `hpeer sleep` lists them.") }
  }

  /// In hours after midnight by the clock.
  private func parts(_ session: SleepSession, _ day: Int) -> [SpanChart.Part] {
    func hours(_ instant: Timestamp) -> Double {
      let seconds = instant.seconds
      return (Double(seconds) + Double(zone.offset(at: seconds)) - Double(day) * 86_400) / 3600
    }
    let bed = session.inBed.map { SpanChart.Part(hours($0.lowerBound), hours($0.upperBound), 3) }
    return bed
      + session.segments.map { SpanChart.Part(hours($0.start), hours($0.end), Self.kinds[$0.stage] ?? 3) }
  }

  /// `23:00` of the evening before is -1.
  private static func clock(_ hours: Double) -> String {
    let hour = ((Int(min(max(hours, -1e6), 1e6)) % 24) + 24) % 24
    return "\(hour < 10 ? "0" : "")\(hour):00"
  }
}
