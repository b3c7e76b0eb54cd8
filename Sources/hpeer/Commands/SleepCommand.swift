import ArgumentParser
import HealthAnalysis
import HealthModel
import Terminal

struct SleepCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sleep",
    abstract: "Print nights and naps.",
    discussion: """
      A night has the date on which it ended. Where several devices and apps have recorded it, one of them tells the \
      stages: what two say of the same time is not added up. The longest sleep of a date is its night, others are naps, \
      and never part of it. docs/statistics.md says what each number means.

      Examples:
        hpeer sleep --from 2024-06-01 --to 2024-06-30
        hpeer sleep --on 2024-06-15 --zone Europe/Berlin --json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var period: PeriodOptions
  @OptionGroup var sources: SourceOptions
  @OptionGroup var output: JSONOption

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    try await sources.requireKnown(in: store)
    let zone = try ZoneRules(period.zone.timeZone)
    var query = SleepQuery(in: zone)
    query.firstDay = period.start.map { zone.dayNumber(at: $0.seconds) }
    query.lastDay = period.end.map { zone.dayNumber(at: Timestamp(microseconds: $0.microseconds - 1).seconds) }
    query.sources = sources.set
    let nights = try await query.run(on: store)
    if output.json { return try Console.print(json: SleepObject(nights, zone)) }
    try SleepPresentation(nights: nights, zone: zone).print()
  }
}
