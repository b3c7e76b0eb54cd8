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
        hpeer workouts --from 2024-06-01
        hpeer workouts --source "Casey's Apple Watch" --json
      """)

  @OptionGroup var common: CommonOptions
  @OptionGroup var period: PeriodOptions
  @OptionGroup var sources: SourceOptions
  @OptionGroup var output: JSONOption

  func run() async throws {
    let store = try common.homeDirectory.openStoreForReading()
    try await sources.requireKnown(in: store)
    let zone = try ZoneRules(period.zone.timeZone)
    var query = WorkoutQuery()
    (query.range, query.sources) = (period.range, sources.set)
    let workouts = try await query.run(on: store)
    if output.json {
      return try Console.print(json: ["workouts": workouts.map { WorkoutObject($0, zone) }])
    }
    try WorkoutPresentation(zone: zone).print(workouts)
  }
}
