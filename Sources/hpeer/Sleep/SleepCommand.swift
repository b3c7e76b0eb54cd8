import ArgumentParser
import HealthAnalysis
import HealthModel
import Terminal

struct SleepCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sleep",
    abstract: "Print nights and naps.",
    discussion: """
      A night has the date on which its sleep day ends. Where several devices and apps have recorded it, one of them tells the \
      stages: what two say of the same time is not added up. The longest sleep until the afternoon of a date is its \
      night, with all that lies no more than three hours from it; what is further away is a nap. \
      docs/reference/statistics.md says what each number means.

      Examples:
        hpeer sleep last week
        hpeer sleep by month this year
        hpeer sleep --from 2024-06-01 --to 2024-06-30
        hpeer sleep --from 30d --csv > nights.csv
        hpeer sleep --on 2024-06-15 --zone Europe/Berlin --json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var options: QuestionOptions
  @OptionGroup var strictness: StrictOption
  @Option(help: "Print nightly means for each week, month or year. JSON and CSV list the nights in any case.")
  var by: NightPeriod?
  @OptionGroup var output: TableOutput
  @OptionGroup var screen: ScreenOption

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    let question = try await options.question(to: store)
    let zone = question.zone
    var query = SleepQuery(in: zone)
    (query.firstDay, query.lastDay) = question.days
    query.sources = question.sources
    query.hasReadings = strictness.readings != .none
    // The nights before are read as well, because the mean is compared with theirs.
    let days = question.days
    let length = days.first.map { max(1, min(days.last ?? question.today, question.today) - $0 + 1) }
    query.firstDay = length.flatMap { length in days.first.map { $0 - length } }
    try await NumbersUpdate.run(on: store)
    let all = try await query.run(on: store)
    let nights = all.filter { night in days.first.map { night.day >= $0 } ?? true }
    if output.json { return try Console.print(json: SleepObject(nights, zone)) }
    if output.csv { return try output.spreadsheet.print(SleepTable(nights, zone).rows) }
    let presentation = SleepPresentation(
      nights: nights, before: all.filter { night in days.first.map { night.day < $0 } ?? false }, zone: zone)
    if let by { try presentation.print(by: by) } else { try presentation.print(screen) }
    if nights.isEmpty { try await question.sayNewest(of: [SleepQuery.type], in: store) }
  }
}

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

/// Nights as JSON: docs/reference/json.md.
struct SleepObject: Encodable {
  var zone: String
  var nights: [NightObject]

  struct NightObject: Encodable {
    var date: String
    /// The time asleep, naps included.
    var asleep: Double?
    var night: Session
    var naps: [Session]
  }

  /// A night or a nap. Durations are in seconds.
  struct Session: Encodable {
    var start: String
    var end: String
    var source: String?
    var onset: String?
    var wake: String?
    var midpoint: String?
    var asleep: Double?
    var inBed: Double
    var awake: Double?
    var core: Double?
    var deep: Double?
    var rem: Double?
    var unspecified: Double?
    var unknown: Double?
    var latency: Double?
    var efficiency: Double?
    var reading: Bool?
    var segments: [Segment]
  }

  struct Segment: Encodable {
    var start: String
    var end: String
    var stage: String
  }

  init(_ nights: [Night], _ zone: ZoneRules) {
    self.zone = zone.name
    self.nights = nights.map { night in
      NightObject(
        date: zone.date(night), asleep: night.asleep, night: Self.session(night.main, zone),
        naps: night.naps.map { Self.session($0, zone) })
    }
  }

  private static func session(_ session: SleepSession, _ zone: ZoneRules) -> Session {
    func duration(_ stage: SleepStage) -> Double? { session.source == nil ? nil : session.duration(of: stage) }
    return Session(
      start: zone.text(session.start), end: zone.text(session.end), source: session.source,
      onset: session.onset.map(zone.text), wake: session.wake.map(zone.text), midpoint: session.midpoint.map(zone.text),
      asleep: session.asleep, inBed: session.duration(of: .inBed), awake: duration(.awake), core: duration(.asleepCore),
      deep: duration(.asleepDeep), rem: duration(.asleepREM), unspecified: duration(.asleepUnspecified),
      unknown: session.unknown,
      latency: session.latency, efficiency: session.efficiency, reading: session.stated == nil ? nil : true,
      segments: session.segments.map {
        Segment(start: zone.text($0.start), end: zone.text($0.end), stage: name(of: $0.stage))
      })
  }

  private static func name(of stage: SleepStage) -> String {
    switch stage {
    case .inBed: "inBed"
    case .awake: "awake"
    case .asleepCore: "core"
    case .asleepDeep: "deep"
    case .asleepREM: "rem"
    case .asleepUnspecified: "unspecified"
    }
  }
}

extension ZoneRules {
  /// Returns the date on which the sleep day of a night ended.
  func date(_ night: Night) -> String { date(Timestamp(seconds: start(ofDay: night.day))) }
}
