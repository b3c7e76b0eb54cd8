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
  @Option(help: "Print means of nights for each week, month or year; JSON and CSV have the nights.")
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
    // Those of the time before are what the mean is compared with.
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
    if let by { return try presentation.print(by: by) }
    try presentation.print(screen)
  }
}
