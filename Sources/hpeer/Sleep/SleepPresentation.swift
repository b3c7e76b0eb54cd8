import ArgumentParser
import HealthAnalysis
import HealthModel
import Terminal

/// The periods of which `hpeer sleep --by` prints means.
enum NightPeriod: String, ExpressibleByArgument, CaseIterable {
  case week, month, year
}

/// Nights as a table for people.
struct SleepPresentation {
  let nights: [Night]
  /// The nights of as many days before.
  let before: [Night]
  let zone: ZoneRules

  func print(_ screen: ScreenOption) throws {
    guard !nights.isEmpty else {
      Console.say("No sleep in this range.")
      return
    }
    var table = Table(columns: [
      .init("NIGHT TO", isWhole: true), .init("ASLEEP", .trailing), .init("IN BED", .trailing),
      .init("DEEP", .trailing),
      .init("REM", .trailing), .init("CORE", .trailing), .init("AWAKE", .trailing), .init("FROM-TO", isWhole: true),
      .init("SOURCE"),
    ])
    let shown = screen.shown(of: nights)
    for night in shown {
      table.append(row(zone.date(night), night.main))
      for nap in night.naps { table.append(row("  nap", nap)) }
    }
    try Console.print(table)
    screen.sayRest(of: nights.count, shown: shown.count, "night")
    sayMean()
    if nights.contains(where: { $0.main.stated != nil }) {
      Console.say("' is what an app has sent of the whole night; no sample says what was slept when.")
    }
  }

  /// Says how long a night's sleep was on average, compared with the nights before.
  private func sayMean() {
    let comparison = PeriodComparison(nights.compactMap(\.asleep), before: before.compactMap(\.asleep))
    guard let mean = comparison.now.mean else { return }
    var words = "Asleep \(DurationText.hours(mean)) a night"
    if comparison.now.days > 1 { words += " in \(HumanFormat.count(comparison.now.days, "night"))" }
    if let difference = comparison.difference {
      let minutes = Int((abs(difference) / 60).rounded())
      let other = "the \(HumanFormat.count(comparison.before.days, "night")) before"
      words +=
        minutes == 0 ? ", as in \(other)" : ", \(minutes) min \(difference < 0 ? "less" : "more") than in \(other)"
    }
    Console.say(words + ".")
  }

  // MARK: Means

  func print(by period: NightPeriod) throws {
    guard !nights.isEmpty else { return Console.say("No sleep in this range.") }
    var table = Table(columns: [
      .init(period == .week ? "WEEK OF" : period.rawValue.uppercased(), isWhole: true), .init("ASLEEP", .trailing),
      .init("DEEP", .trailing), .init("REM", .trailing), .init("CORE", .trailing), .init("AWAKE", .trailing),
      .init("NIGHTS", .trailing),
    ])
    let groups = Dictionary(grouping: nights.filter { $0.asleep != nil }) { title(of: $0.day, period) }
    for (title, nights) in groups.sorted(by: { $0.key < $1.key }) {
      // Nights without stages have no part in the means of stages.
      let staged = nights.filter { night in night.sessions.contains { $0.hasStages } }
      func mean(_ stage: SleepStage) -> String {
        let total = staged.reduce(0) { $0 + $1.sessions.reduce(0) { $0 + $1.duration(of: stage) } }
        return total > 0 ? DurationText.hours(total / Double(staged.count)) : "-"
      }
      let asleep = nights.reduce(0) { $0 + ($1.asleep ?? 0) }
      table.append([
        .init(title), .init(DurationText.hours(asleep / Double(nights.count))), .init(mean(.asleepDeep)),
        .init(mean(.asleepREM)), .init(mean(.asleepCore)), .init(mean(.awake)), .init(HumanFormat.count(nights.count)),
      ])
    }
    try Console.print(table)
    sayMean()
  }

  private func title(of day: Int, _ period: NightPeriod) -> String {
    switch period {
    case .week:
      // 1970-01-01 was a Thursday.
      let shift = TimeLocale.current.weekStartsOnSunday ? 4 : 3
      return CalendarDay(day - ((day + shift) % 7 + 7) % 7).text
    case .month: return String(CalendarDay(day).text.prefix(7))
    case .year: return String(CalendarDay(day).text.prefix(4))
    }
  }

  private func row(_ title: String, _ session: SleepSession) -> [Table.Cell] {
    let stages = [SleepStage.asleepDeep, .asleepREM, .asleepCore, .awake].map { stage in
      let duration = session.duration(of: stage)
      return Table.Cell(duration > 0 ? DurationText.hours(duration) : "-")
    }
    let hasTimes = session.stated == nil || session.onset != nil
    let times = [session.onset ?? session.start, session.wake ?? session.end].map {
      zone.text($0).dropFirst(11).prefix(5)
    }
    return [
      .init(session.stated == nil ? title : "\(title) '"), .init(session.asleep.map(DurationText.hours) ?? "-"),
      .init(DurationText.hours(session.duration(of: .inBed))),
    ]
      + stages + [
        .init(hasTimes ? times.joined(separator: "-") : "-"),
        .init(session.source.map { PlainText.escaped($0, limit: 40) } ?? "-"),
      ]
  }
}

extension Night {
  fileprivate var sessions: [SleepSession] { [main] + naps }
}

extension SleepSession {
  /// Whether the session distinguishes kinds of sleep.
  fileprivate var hasStages: Bool {
    [.asleepCore, .asleepDeep, .asleepREM].contains { duration(of: $0) > 0 }
  }
}

/// A chart of nights as floating bars, from going to bed to getting up.
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
    // A night without samples gets a line as well, so that the gap is seen.
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

  /// Returns the parts of a session, in hours after midnight by the clock.
  private func parts(_ session: SleepSession, _ day: Int) -> [SpanChart.Part] {
    func hours(_ instant: Timestamp) -> Double {
      let seconds = instant.seconds
      return (Double(seconds) + Double(zone.offset(at: seconds)) - Double(day) * 86_400) / 3600
    }
    let bed = session.inBed.map { SpanChart.Part(hours($0.lowerBound), hours($0.upperBound), 3) }
    return bed
      + session.segments.map { SpanChart.Part(hours($0.start), hours($0.end), Self.kinds[$0.stage] ?? 3) }
  }

  /// Returns the clock time of an hour. -1 is `23:00` of the evening before.
  private static func clock(_ hours: Double) -> String {
    let hour = ((Int(min(max(hours, -1e6), 1e6)) % 24) + 24) % 24
    return "\(hour < 10 ? "0" : "")\(hour):00"
  }
}
