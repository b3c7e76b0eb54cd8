import HealthModel

/// The handler of the root element, `ExportDate` and `Me`.
///
/// Unknown attributes and elements in them become characteristics named by their place: `HealthData/@name` is an
/// attribute, `Me/Name` an element.
struct PersonHandler {
  /// The maximum length of a name in bytes. Other machines accept little more outside a sample's payload.
  private static let maximumName = 64 << 10

  /// The export date that the survey found, for characteristics that come before `ExportDate`.
  private let exportDate: Timestamp?
  /// The number of unknown elements at each place.
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
      // For unset values, the Health app prints an empty text or a value such as `HKBloodTypeNotSet`.
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

  /// Returns whether unknown elements inside an element with this name become characteristics.
  static func keepsElements(in name: ElementName?) -> Bool { name == .me || name == .exportDate }

  /// Keeps an unknown element as a characteristic.
  ///
  /// - Parameters:
  ///   - parent: the name of the parent element.
  ///   - text: the element as JSON.
  mutating func keep(element name: String, of parent: String, _ text: String, _ context: inout ReadingContext) {
    let place = "\(parent)/\(name)"
    let number = elements[place, default: 0] + 1
    elements[place] = number
    add(characteristic: PreservedKey.place(place, number), text, &context)
  }
}

extension Source {
  /// The Health app, as the source of data about the person. Apple's export names no source for it.
  static let health = Source(name: "Health")
}
