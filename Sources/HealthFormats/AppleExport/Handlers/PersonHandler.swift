import HealthModel

/// The root, `ExportDate` and `Me`.
///
/// What nothing understands in them becomes a characteristic of its own, named by its place: `HealthData/@name` is an
/// attribute, `Me/Name` an element.
struct PersonHandler {
  /// In bytes: other machines take little more of what a sample says beside its payload.
  private static let maximumName = 64 << 10

  /// What the survey has found, for what stands before it.
  private let exportDate: Timestamp?
  /// How many unknown elements there have been at each place.
  private var elements: [String: Int] = [:]

  init(exportDate: Timestamp?) { self.exportDate = exportDate }

  func readRoot(_ context: inout ReadingContext) {
    for index in 0..<context.scanner.attributeCount {
      let (name, value) = context.decodedAttribute(index)
      if name == "locale" {
        context.report.locale = value
      } else {
        keep(attribute: name, value, of: "HealthData", &context)
      }
    }
  }

  func readExportDate(_ context: inout ReadingContext) {
    for index in 0..<context.scanner.attributeCount {
      let (name, value) = context.decodedAttribute(index)
      if name != "value" {
        keep(attribute: name, value, of: "ExportDate", &context)
      } else if let date = context.keys.date(value) {
        context.report.exportDate = date
        context.report.utcOffset = context.keys.dates.offset.map { Int($0) }
      } else {
        context.skip("ExportDate that cannot be read")
      }
    }
  }

  func readCharacteristics(_ context: inout ReadingContext) {
    context.report.elements["Me", default: 0] += 1
    for index in 0..<context.scanner.attributeCount {
      let (name, value) = context.decodedAttribute(index)
      if !name.begins(with: "HKCharacteristicType") { context.remark("Me with an unknown attribute \(name)") }
      // The Health app prints an empty text for what the person has not told, or `HKBloodTypeNotSet`.
      let isNotSet = value.isEmpty || value.begins(with: "HK") && value.ends(with: "NotSet")
      if !isNotSet { add(characteristic: name, value, &context) }
    }
  }

  private func add(characteristic name: String, _ value: String, _ context: inout ReadingContext) {
    guard name.utf8.count <= Self.maximumName else { return context.skip("Me: \(Sample.tooLarge)") }
    let epoch = Timestamp(seconds: 0)
    let created = exportDate ?? context.report.exportDate
    context.delivery.add(
      reading: Sample(
        uuid: .undecided, type: SampleType(name), start: epoch, end: epoch, created: created, source: .health,
        payload: .characteristic(CharacteristicValue(value: value))))
  }

  // MARK: What is unknown

  private func keep(attribute name: String, _ value: String, of element: String, _ context: inout ReadingContext) {
    context.remark("\(element) with an unknown attribute \(name)")
    if !value.isEmpty { add(characteristic: "\(element)/@\(name)", value, &context) }
  }

  /// Whether an unknown element in an element of this name becomes a characteristic.
  static func keepsElements(in name: ElementName?) -> Bool { name == .me || name == .exportDate }

  /// - Parameters:
  ///   - parent: the element that it is in.
  ///   - text: the JSON that it is kept as.
  mutating func keep(element name: String, of parent: String, _ text: String, _ context: inout ReadingContext) {
    let place = "\(parent)/\(name)"
    let number = elements[place, default: 0] + 1
    elements[place] = number
    add(characteristic: KeptName.place(place, number), text, &context)
  }
}

extension Source {
  /// Apple's export names no source for what is about the person; it is the Health app's own.
  static let health = Source(name: "Health")
}
