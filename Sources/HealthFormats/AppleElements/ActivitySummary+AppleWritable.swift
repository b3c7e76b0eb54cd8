import HealthModel

/// Writes `ActivitySummary`. ``ActivitySummaryHandler`` reads it, because its values change from export to export.
extension ActivitySummary: AppleWritable {
  static var section: AppleExportWriter.Section { .activitySummaries }

  func write(_ sample: Sample, related: [Sample], to writer: inout AppleExportWriter) -> Bool {
    writer.output.start("ActivitySummary")
    writer.output.attribute("dateComponents", date)
    var rest = attributes
    for name in Self.attributeNames { writer.output.attribute(name, rest.removeValue(forKey: name)) }
    for (name, value) in rest.sorted(by: { $0.key < $1.key }) where XMLOutput.isName(name) {
      writer.output.attribute(name, value)
    }
    var kept = KeptMetadata(sample.metadata, writer.text)
    writer.attributes(&kept)
    writer.entries(&kept)
    writer.finish(&kept)
    return true
  }

  static let attributeNames = [
    "activeEnergyBurned", "activeEnergyBurnedGoal", "activeEnergyBurnedUnit", "appleMoveTime", "appleMoveTimeGoal",
    "appleExerciseTime", "appleExerciseTimeGoal", "appleStandHours", "appleStandHoursGoal",
  ]
}
