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
        hpeer sleep --from 2024-06-01 --to 2024-06-30
        hpeer sleep --from 30d --csv > nights.csv
        hpeer sleep --on 2024-06-15 --zone Europe/Berlin --json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var options: QuestionOptions
  @OptionGroup var strictness: StrictOption
  @OptionGroup var output: TableOutput

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    let question = try await options.question(to: store)
    let zone = question.zone
    var query = SleepQuery(in: zone)
    (query.firstDay, query.lastDay) = question.days
    query.sources = question.sources
    query.hasReadings = strictness.readings != .none
    let nights = try await query.run(on: store)
    if output.json { return try Console.print(json: SleepObject(nights, zone)) }
    if output.csv { return try Console.print(SleepTable(nights, zone).rows) }
    try SleepPresentation(nights: nights, zone: zone).print()
  }
}
