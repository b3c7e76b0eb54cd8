import HealthModel

/// The root, `ExportDate`, and what drifts from export to export: `Me` and `ActivitySummary`.
extension SampleReader {
  /// Apple's export names no source for these; they are the Health app's own.
  private var health: Source { Source(name: "Health") }

  mutating func readRoot() {
    forEachAttribute { reader, name, value in
      if name == "locale" {
        reader.report.locale = value
      } else {
        reader.skip("HealthData with an unknown attribute \(name)")
      }
    }
  }

  mutating func readExportDate() {
    forEachAttribute { reader, name, value in
      guard name == "value" else {
        reader.skip("ExportDate with an unknown attribute \(name)")
        return
      }
      guard let date = reader.keys.date(value) else {
        reader.skip("ExportDate that cannot be read")
        return
      }
      reader.report.exportDate = date
      reader.report.utcOffset = reader.keys.dates.offset.map { Int($0) }
    }
  }

  mutating func readCharacteristics() {
    report.elements["Me", default: 0] += 1
    forEachAttribute { reader, name, value in
      if !name.hasPrefix("HKCharacteristicType") { reader.remark("Me with an unknown attribute \(name)") }
      // The Health app prints an empty text for what the person has not told.
      if value.isEmpty { return }
      let epoch = Timestamp(seconds: 0)
      reader.emit(
        drifting: Sample(
          uuid: Self.noIdentity, type: SampleType(name), start: epoch, end: epoch, created: reader.report.exportDate,
          source: reader.health, payload: .characteristic(CharacteristicValue(value: value))))
    }
  }

  /// False for one that says no day, which is an element like any other.
  mutating func readActivitySummary() -> Bool {
    var attributes: [String: String] = [:]
    forEachAttribute { reader, name, value in
      if attributes[name] == nil { attributes[name] = value } else { reader.remark("attribute given twice") }
    }
    guard let day = attributes.removeValue(forKey: "dateComponents") else {
      remark("ActivitySummary without dateComponents")
      return false
    }
    guard let start = Timestamp(iso8601: day), start.seconds % 86_400 == 0 else {
      remark("ActivitySummary with unreadable dateComponents")
      return false
    }
    report.elements["ActivitySummary", default: 0] += 1
    emit(
      drifting: Sample(
        uuid: Self.noIdentity, type: .activitySummary, start: start, end: Timestamp(seconds: start.seconds + 86_400),
        created: report.exportDate, source: health,
        payload: .activitySummary(ActivitySummary(date: day, attributes: attributes))))
    return true
  }

  private mutating func forEachAttribute(_ body: (inout SampleReader, String, String) -> Void) {
    for index in 0..<scanner.attributeCount {
      let attribute = scanner.attribute(index)
      let (name, value) = (decoded(attribute.name), decoded(attribute.value))
      body(&self, name, value)
    }
  }
}
