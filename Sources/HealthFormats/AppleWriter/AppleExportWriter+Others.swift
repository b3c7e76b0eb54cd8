import HealthModel

/// `ActivitySummary`, and elements that are kept as they are.
extension AppleExportWriter {
  mutating func activitySummary(_ sample: Sample) {
    guard case .activitySummary(let summary) = sample.payload else { return }
    output.start("ActivitySummary")
    output.attribute("dateComponents", summary.date)
    var rest = summary.attributes
    for name in Self.summaryAttributes { output.attribute(name, rest.removeValue(forKey: name)) }
    for (name, value) in rest.sorted(by: { $0.key < $1.key }) where XMLOutput.isName(name) {
      output.attribute(name, value)
    }
    var kept = KeptMetadata(sample.metadata, text)
    attributes(&kept)
    entries(&kept)
    finish(&kept)
  }

  private static let summaryAttributes = [
    "activeEnergyBurned", "activeEnergyBurnedGoal", "activeEnergyBurnedUnit", "appleMoveTime", "appleMoveTimeGoal",
    "appleExerciseTime", "appleExerciseTimeGoal", "appleStandHours", "appleStandHoursGoal",
  ]

  /// An element that the model has no payload for, from its attributes and children.
  mutating func other(_ sample: Sample) {
    guard case .unknown(let kind, let content) = sample.payload, let element = ForeignElement(kind, content)
    else { return }
    var kept = KeptMetadata(sample.metadata, text)
    output.start(element.name)
    // One without a type has the element's name for it.
    if element.attributes["type"] == nil, sample.type.rawValue != element.name {
      output.attribute("type", sample.type.rawValue)
    }
    // One without a date keeps in its attributes what it had of these.
    let names = ["sourceName", "sourceVersion", "device", "creationDate", "startDate", "endDate"]
    let isUndated =
      sample.start == Timestamp(seconds: 0) && sample.end == sample.start && sample.source == Source(name: "")
    if !isUndated {
      source(of: sample)
      var reader = DateReader()
      let other = element.attributes["dateIssued"] ?? element.attributes["receivedDate"]
      let hasStart = other.flatMap { reader.read($0)?.date } != sample.start
      dates(of: sample, &kept, hasStart: hasStart)
    }
    for (name, value) in element.attributes.sorted(by: { $0.key < $1.key })
    where isUndated || !names.contains(name) {
      if !output.attribute(other: name, value) { kept.giveBack(attribute: name, value) }
    }
    attributes(&kept)
    entries(&kept)
    for child in element.children { write(child) }
    finish(&kept)
  }
}
