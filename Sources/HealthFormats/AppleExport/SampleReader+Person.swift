import HealthModel

/// The root, `ExportDate`, and what drifts from export to export: `Me` and `ActivitySummary`.
///
/// What nothing understands in the root, in `ExportDate` and in `Me` becomes a characteristic of its own, named by its
/// place: `HealthData/@name` is an attribute, `Me/Name` an element.
extension SampleReader {
  /// Apple's export names no source for these; they are the Health app's own.
  private var health: Source { Source(name: "Health") }

  mutating func readRoot() {
    forEachAttribute { reader, name, value in
      if name == "locale" {
        reader.report.locale = value
      } else {
        reader.keepUnknown(attribute: name, value, of: "HealthData")
      }
    }
  }

  mutating func readExportDate() {
    forEachAttribute { reader, name, value in
      guard name == "value" else { return reader.keepUnknown(attribute: name, value, of: "ExportDate") }
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
      if !value.isEmpty { reader.emit(characteristic: name, value) }
    }
  }

  private mutating func emit(characteristic name: String, _ value: String) {
    let epoch = Timestamp(seconds: 0)
    emit(
      drifting: Sample(
        uuid: Self.noIdentity, type: SampleType(name), start: epoch, end: epoch,
        created: exportDate ?? report.exportDate, source: health,
        payload: .characteristic(CharacteristicValue(value: value))))
  }

  private mutating func keepUnknown(attribute name: String, _ value: String, of element: String) {
    remark("\(element) with an unknown attribute \(name)")
    if !value.isEmpty { emit(characteristic: "\(element)/@\(name)", value) }
  }

  /// Whether an unknown element in an element of this name becomes a characteristic.
  func isAboutPerson(_ name: ElementName?) -> Bool { name == .me || name == .exportDate }

  /// - Parameters:
  ///   - parent: the element that it is in.
  ///   - text: the JSON that it is kept as.
  mutating func keepUnknown(element name: String, of parent: String, _ text: String) {
    let place = "\(parent)/\(name)"
    let number = unknownOfPerson[place, default: 0] + 1
    unknownOfPerson[place] = number
    emit(characteristic: Self.place(place, number), text)
  }

  /// `nil` for one that says no day, which is an element like any other.
  mutating func readActivitySummary() -> ElementStack.Role? {
    var attributes: [String: String] = [:]
    forEachAttribute { reader, name, value in
      if attributes[name] == nil { attributes[name] = value } else { reader.remark("attribute given twice") }
    }
    guard let day = scanner.text(of: "dateComponents") else {
      remark("ActivitySummary without dateComponents")
      return nil
    }
    guard let start = Self.day(day) else {
      remark("ActivitySummary with unreadable dateComponents")
      return nil
    }
    attributes["dateComponents"] = nil
    let sample = Sample(
      uuid: Self.noIdentity, type: .activitySummary, start: start, end: Timestamp(seconds: start.seconds + 86_400),
      created: report.exportDate, source: health,
      payload: .activitySummary(ActivitySummary(date: day, attributes: attributes)))
    if scanner.isSelfClosing {
      emit(summary: sample)
      return .leaf
    }
    current = Draft(
      kind: .other(name: "ActivitySummary", identifier: nil), line: scanner.tokenLine(), hash: 0, sample: sample)
    return .summary
  }

  mutating func finishActivitySummary() {
    guard var draft = current.take() else { return }
    complete(&draft)
    emit(summary: draft.sample)
  }

  private mutating func emit(summary: Sample) {
    report.elements["ActivitySummary", default: 0] += 1
    emit(drifting: summary)
  }

  /// The beginning of a day in UTC; `nil` for a text that is no day.
  static func day(_ text: String) -> Timestamp? {
    Timestamp(iso8601: text).flatMap { $0.seconds % 86_400 == 0 ? $0 : nil }
  }

  private mutating func forEachAttribute(_ body: (inout SampleReader, String, String) -> Void) {
    for index in 0..<scanner.attributeCount {
      let attribute = scanner.attribute(index)
      let (name, value) = (decoded(attribute.name), decoded(attribute.value))
      body(&self, name, value)
    }
  }
}
