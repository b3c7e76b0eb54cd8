import Foundation
import HealthModel
import TestSupport

extension ExportXML {
  func writeWorkout(_ sample: Sample) {
    guard case .workout(let workout) = sample.payload else { return }
    var random = SeededGenerator(seed: UInt64(bitPattern: sample.start.seconds) &+ export.seed)
    text.add(" <Workout")
    text.attribute("workoutActivityType", workout.activityType.exported)
    text.attribute("duration", "\((workout.duration ?? 0) / 60)")
    text.attribute("durationUnit", "min")
    addSource(of: sample)
    addDates(of: sample)
    text.add(">\n")
    addEntries(sample.metadata, indent: "  ")
    let (start, end) = (sample.start.seconds, sample.end.seconds)
    let middle = start + (end - start) / 2
    addEvent("HKWorkoutEventTypePause", at: middle)
    addEvent("HKWorkoutEventTypeResume", at: middle + (end - start) / 50)
    for lap in 0..<Int64.random(in: 2...8, using: &random) {
      addEvent("HKWorkoutEventTypeSegment", at: start + lap * 60, minutes: Double.random(in: 4...9, using: &random))
    }
    addActivity(workout, start, end, &random)
    for statistics in workout.statistics { addStatistics(statistics, start, end, indent: "  ") }
    if let route = routes[start] { addRoute(route, of: sample) }
    text.add(" </Workout>\n")
  }

  private func addEvent(_ type: String, at date: Int64, minutes: Double? = nil) {
    text.add("  <WorkoutEvent")
    text.attribute("type", type)
    text.attribute("date", Timestamp(seconds: date))
    if let minutes {
      text.attribute("duration", "\(minutes)")
      text.attribute("durationUnit", "min")
    }
    text.add("/>\n")
  }

  private func addActivity(_ workout: Workout, _ start: Int64, _ end: Int64, _ random: inout SeededGenerator) {
    text.add("  <WorkoutActivity")
    text.attribute("uuid", random.uuid().uuidString)
    text.attribute("startDate", Timestamp(seconds: start))
    text.attribute("endDate", Timestamp(seconds: end))
    text.attribute("duration", "\((workout.duration ?? 0) / 60)")
    text.attribute("durationUnit", "min")
    text.add(">\n")
    for statistics in workout.statistics { addStatistics(statistics, start, end, indent: "   ") }
    text.add("   <MetadataEntry key=\"HKElevationAscended\" value=\"1200 cm\"/>\n  </WorkoutActivity>\n")
  }

  private func addStatistics(_ statistics: WorkoutStatistics, _ start: Int64, _ end: Int64, indent: String) {
    text.add(indent)
    text.add("<WorkoutStatistics")
    text.attribute("type", statistics.type.rawValue)
    text.attribute("startDate", Timestamp(seconds: start))
    text.attribute("endDate", Timestamp(seconds: end))
    let unit = statistics.unit ?? ""
    let numbers = [
      ("average", statistics.average), ("minimum", statistics.minimum), ("maximum", statistics.maximum),
      ("sum", statistics.sum),
    ]
    for case (let name, let value?) in numbers { text.attribute(name, displayed(value, unit).value) }
    text.attribute("unit", displayed(0, unit).unit)
    text.add("/>\n")
  }

  private func addRoute(_ route: Route, of sample: Sample) {
    text.add("  <WorkoutRoute")
    addSource(of: sample)
    addDates(of: sample)
    text.add(">\n   <MetadataEntry key=\"HKMetadataKeySyncVersion\" value=\"2\"/>\n   <FileReference")
    text.attribute("path", "/" + route.path)
    text.add("/>\n  </WorkoutRoute>\n")
  }
}
