import HealthAnalysis
import HealthModel
import Terminal

/// Nights as a table for people.
struct SleepPresentation {
  let nights: [Night]
  let zone: ZoneRules

  func print() throws {
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
    for night in nights {
      table.append(row(zone.date(night), night.main))
      for nap in night.naps { table.append(row("  nap", nap)) }
    }
    try Console.print(table)
    if nights.contains(where: { $0.main.stated != nil }) {
      Console.say("' is what an app has sent of the whole night; no sample says what was slept when.")
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
