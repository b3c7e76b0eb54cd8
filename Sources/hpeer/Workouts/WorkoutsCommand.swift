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
    if workouts.isEmpty { try await question.sayNewest(of: [.workout], in: store) }
  }
}

/// Workouts as a table for spreadsheets; durations in seconds, lengths and energies in the unit beside them.
struct WorkoutTable {
  private(set) var rows = CSVRows(columns: [
    "id", "start", "end", "activity", "source", "counted", "duration", "elapsed", "distance", "distanceUnit", "energy",
    "energyUnit",
  ])

  init(_ workouts: [WorkoutSummary], _ question: Question) {
    let units = (distance: question.units.distance, energy: question.units.energy)
    for workout in workouts {
      let distance = workout.distance.flatMap { UnitConversion.convert($0, from: "m", to: units.distance) }
      let energy = workout.energy.flatMap { UnitConversion.convert($0, from: "kcal", to: units.energy) }
      let sample = workout.sample
      let names = [
        sample.uuid.uuidString, question.zone.text(sample.start), question.zone.text(sample.end),
        workout.workout.activityType.exported, sample.source.name, "\(workout.isCounted)",
      ]
      let numbers = [
        workout.duration.map { "\($0)" }, "\(workout.elapsed)", distance.map { "\($0)" },
        distance == nil ? nil : units.distance, energy.map { "\($0)" }, energy == nil ? nil : units.energy,
      ]
      rows.append(names + numbers)
    }
  }
}
