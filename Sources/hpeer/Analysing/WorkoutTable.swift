import HealthAnalysis
import HealthModel

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
