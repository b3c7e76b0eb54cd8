import ArgumentParser
import HealthAnalysis
import HealthModel
import Terminal

struct Workouts: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "workouts",
    abstract: "List workouts.",
    discussion: """
      A workout that two apps have recorded is listed twice and counted once; the one that does not count is marked with =. \
      The id is what `hpeer workout` takes.

      Examples:
        hpeer workouts --from 2024-06-01 --units imperial
        hpeer workouts --from 2024 --csv > workouts.csv
        hpeer workouts --source "Casey's Apple Watch" --json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var options: QuestionOptions
  @OptionGroup var output: TableOutput
  @OptionGroup var screen: ScreenOption

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    let question = try await options.question(to: store)
    let zone = question.zone
    var query = WorkoutQuery()
    (query.range, query.sources) = (question.range, question.sources)
    try await NumbersUpdate.run(on: store)
    let workouts = try await query.run(on: store)
    if output.json {
      return try Console.print(json: ["workouts": workouts.map { WorkoutObject($0, zone) }])
    }
    if output.csv { return try output.spreadsheet.print(WorkoutTable(workouts, question).rows) }
    try WorkoutPresentation(zone: zone, units: question.unitsForPeople).print(workouts, screen)
  }
}
