import HealthAnalysis
import HealthModel

/// Nights and naps as a table for spreadsheets; durations in seconds.
struct SleepTable {
  private(set) var rows = CSVRows(columns: [
    "date", "kind", "start", "end", "source", "onset", "wake", "asleep", "inBed", "awake", "core", "deep", "rem",
    "unspecified", "latency", "efficiency", "unknown",
  ])

  init(_ nights: [Night], _ zone: ZoneRules) {
    for night in nights {
      append(night.main, "night", night, zone)
      for nap in night.naps { append(nap, "nap", night, zone) }
    }
  }

  private mutating func append(_ session: SleepSession, _ kind: String, _ night: Night, _ zone: ZoneRules) {
    func stage(_ stage: SleepStage) -> String? { session.source == nil ? nil : "\(session.duration(of: stage))" }
    let times = [zone.text(session.start), zone.text(session.end), session.source, session.onset.map(zone.text)]
    let sums = [session.wake.map(zone.text), session.asleep.map { "\($0)" }, "\(session.duration(of: .inBed))"]
    let stages = [SleepStage.awake, .asleepCore, .asleepDeep, .asleepREM, .asleepUnspecified].map(stage)
    let shares = [session.latency, session.efficiency, session.unknown].map { $0.map { "\($0)" } }
    rows.append([zone.date(night), kind] + times + sums + stages + shares)
  }
}
