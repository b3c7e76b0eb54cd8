import HealthFormats
import HealthModel
import TestSupport

/// Writers of the elements at the top level.
extension ExportXML {
  func writeHead() {
    text.add("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\(AppleDocumentType.text)\n")
    text.add("<HealthData locale=\"en_DE\">\n <ExportDate value=\"")
    text.add(export.made)
    text.add(
      """
      "/>
       <Me HKCharacteristicTypeIdentifierDateOfBirth="1986-05-17" \
      HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSexMale" \
      HKCharacteristicTypeIdentifierBloodType="HKBloodTypeONegative" \
      HKCharacteristicTypeIdentifierFitzpatrickSkinType="HKFitzpatrickSkinTypeII" \
      HKCharacteristicTypeIdentifierCardioFitnessMedicationsUse="None"/>

      """)
  }

  func writeRecord(_ sample: Sample, indent: String = " ") {
    text.add(indent)
    text.add("<Record")
    addAttributes(of: sample)
    let hasBeats = sample.type.rawValue == "HKQuantityTypeIdentifierHeartRateVariabilitySDNN"
    if sample.metadata.isEmpty, !hasBeats { return text.add("/>\n") }
    text.add(">\n")
    addEntries(sample.metadata, indent: indent + " ")
    if hasBeats { addBeats(from: sample.start.seconds) }
    text.add(indent)
    text.add("</Record>\n")
  }

  func addAttributes(of sample: Sample) {
    text.attribute("type", sample.type.rawValue)
    addSource(of: sample)
    switch sample.payload {
    case .quantity(let quantity):
      let shown = displayed(quantity.value, quantity.unit)
      text.attribute("unit", shown.unit)
      addDates(of: sample)
      text.attribute("value", shown.value)
    case .category(let category):
      addDates(of: sample)
      if let value = CategoryValueNames.healthKit.exported(category, type: sample.type) {
        text.attribute("value", value)
      }
    default: addDates(of: sample)
    }
  }

  /// Adds about half a minute of heartbeats with local times.
  private func addBeats(from start: Int64) {
    var random = SeededGenerator(seed: UInt64(bitPattern: start) &+ export.seed)
    text.add("  <HeartRateVariabilityMetadataList>\n")
    var hundredths = (start + WallClock.offset(at: start)) * 100 + Int64.random(in: 0..<100, using: &random)
    for _ in 0..<Int.random(in: 20...40, using: &random) {
      text.add("   <InstantaneousBeatsPerMinute")
      text.attribute("bpm", String(Int.random(in: 50..<75, using: &random)))
      text.begin("time")
      text.addClock(hundredths / 100 % 86_400)
      text.add(".")
      text.addPair(hundredths % 100)
      text.add("\"/>\n")
      hundredths += Int64.random(in: 80...120, using: &random)
    }
    text.add("  </HeartRateVariabilityMetadataList>\n")
  }

  func writeCorrelation(_ sample: Sample, members: some Sequence<Sample>) {
    text.add(" <Correlation")
    text.attribute("type", sample.type.rawValue)
    addSource(of: sample)
    addDates(of: sample)
    text.add(">\n")
    addEntries(sample.metadata, indent: "  ")
    for member in members { writeRecord(member, indent: "  ") }
    text.add(" </Correlation>\n")
  }

  /// Writes a summary for each day. The last day was not yet over when the first export was made.
  func writeSummaries() {
    let days = min(HealthHistory.span / 86_400, Int64(export.records / 333) + 2)
    let last = (HealthHistory.begin + HealthHistory.span) / 86_400
    for day in (last - days)...(last + (export.has(.new) ? 30 : 0)) {
      var random = SeededGenerator(seed: UInt64(day) &* 977 &+ export.seed)
      var energy = Double.random(in: 200...900, using: &random)
      if day == last, export.changes == nil { energy /= 3 }
      text.add(" <ActivitySummary")
      text.attribute("dateComponents", ExportText.day(day))
      text.attribute("activeEnergyBurned", energy)
      text.attribute("activeEnergyBurnedGoal", "500")
      text.attribute("activeEnergyBurnedUnit", "kcal")
      text.attribute("appleMoveTime", "0")
      text.attribute("appleMoveTimeGoal", "0")
      text.attribute("appleExerciseTime", String(Int.random(in: 0..<90, using: &random)))
      text.attribute("appleExerciseTimeGoal", "30")
      text.attribute("appleStandHours", String(Int.random(in: 6..<16, using: &random)))
      text.attribute("appleStandHoursGoal", "12")
      text.add("/>\n")
    }
  }

  /// Writes a record with a defect. An importer can read all of these records.
  func writeDefective(_ sample: Sample, number: Int) {
    text.add(" <Record")
    switch number % 6 {
    case 0:
      addAttributes(of: sample)
      // A control character in the text.
      text.add(">\n  <MetadataEntry key=\"note\" value=\"up \u{B}and down\"/>\n </Record>\n")
    case 1:
      addAttributes(of: sample)
      // An attribute twice.
      text.attribute("endDate", sample.start)
      text.add("/>\n")
    case 2:
      addAttributes(of: sample)
      // An attribute and an element that nobody knows.
      text.add(" mood=\"fine\">\n  <Mood value=\"7\"/>\n </Record>\n")
    case 3:
      addAttributes(of: sample)
      text.add(" extra=\"\">\n  <MetadataEntry key=\"\" value=\"\"/>\n </Record>\n")
    case 4:
      addAttributes(of: sample)
      // Without a closing tag.
      text.add(">\n  <MetadataEntry key=\"note\" value=\"&nbsp;\"/>\n")
    default:
      addAttributes(of: sample)
      text.add("></Record>\n text between elements &#0;\n")
    }
  }
}
