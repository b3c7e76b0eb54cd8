import HealthModel

/// A writer of `export.xml` files in the Health app's format: version 14 of the document type, the same order of
/// elements and attributes, and one UTC offset for all dates.
///
/// Writes back everything that was imported from an Apple export; `docs/reference/formats/apple-xml.md` lists the
/// differences. Leaves out samples that Apple's export has no element for, such as those of other apps' own types.
///
/// ```swift
/// func xml(_ records: [Sample], exported: Timestamp) -> [UInt8] {
///   var writer = AppleExportWriter(exportDate: exported, offset: 7200)
///   writer.begin(characteristics: [])
///   let left = records.filter { !writer.append($0) }
///   writer.end()
///   print("\(left.count) samples have no element")
///   return writer.take()
/// }
/// ```
public struct AppleExportWriter {
  /// A section of the file, which determines the position of a sample's element.
  public enum Section: Int, Sendable, CaseIterable {
    /// A section, in the order of the file. `characteristics` are attributes of `Me`, `others` are audiograms,
    /// prescriptions, clinical records and unknown elements; the other sections have elements of one kind each.
    case characteristics, records, correlations, others, workouts, activitySummaries
    /// The routes, which are written inside the elements of their workouts.
    case routes
    /// The samples that Apple's export has no element for.
    case none
  }

  /// The date of the values that change from export to export. An export file has a single date for all of them, the
  /// date of the export.
  public enum Age: Hashable, Sendable {
    /// No such values exist.
    case ofThisExport
    /// The values came with an export of this date; if they came with several, with the newest.
    case ofExport(Timestamp)
    /// The values came with an export without a date. They are written without one, because any date would make them
    /// newer than others.
    case unknown

    /// Takes another value into account.
    ///
    /// - Parameter date: the date of the export that the value came with; `nil` if the export had none.
    public mutating func add(_ date: Timestamp?) {
      switch (self, date) {
      case (.ofExport(let known), let date?): self = .ofExport(max(known, date))
      case (_, let date?): self = .ofExport(date)
      case (.ofThisExport, nil): self = .unknown
      case (.ofExport, nil), (.unknown, nil): break
      }
    }
  }

  let text: AppleText
  private let exportDate: Timestamp
  private let locale: String
  var output: XMLOutput
  /// The remaining metadata of the workout being written.
  var openWorkout: KeptMetadata?
  var openRoute: OpenRoute?
  /// The last device written, and its text.
  var lastDevice: (device: Device, text: String?)?

  /// Creates a writer.
  ///
  /// - Parameters:
  ///   - exportDate: the time at which the export is made.
  ///   - offset: the UTC offset of all dates, in seconds east, in whole minutes.
  public init(exportDate: Timestamp, offset: Int, locale: String = "en") {
    self.exportDate = exportDate
    self.locale = locale
    text = AppleText(offset: offset)
    output = XMLOutput()
  }

  /// Creates a writer that prints nothing. The caller takes single elements from ``output``.
  init(keepingElements offset: Int) {
    self.init(exportDate: Timestamp(seconds: 0), offset: offset)
    output = XMLOutput(keepsElements: true)
  }

  /// Returns the section that `sample` belongs to.
  public static func section(of sample: Sample) -> Section {
    switch sample.payload {
    case .quantity, .category: AppReadings.isOwnType(sample.type) ? .none : .records
    case .unknown("record", _): .records
    case .unknown(let kind, let content): ForeignElement(kind, content) == nil ? .none : .others
    default: writable(sample.payload).map { type(of: $0).section } ?? .none
    }
  }

  /// Returns whether Apple's export keeps a part of `sample` in a file beside the XML.
  public static func hasMore(_ sample: Sample) -> Bool { writable(sample.payload)?.hasPartInFile ?? false }

  private static func writable(_ payload: Payload) -> (any AppleWritable)? { payload.content as? any AppleWritable }

  /// Writes the beginning of the document.
  ///
  /// - Parameters:
  ///   - characteristics: all characteristics of the person.
  ///   - age: the date of their values, and of those of activity summaries.
  public mutating func begin(characteristics: [Sample], asOf age: Age = .ofThisExport) {
    var values: [SampleType: String] = [:]
    // If there are two of a type, the newer one counts.
    for sample in characteristics.sorted(by: { $0.created ?? $0.start < $1.created ?? $1.start }) {
      if case .characteristic(let value) = sample.payload { values[sample.type] = value.value }
    }
    let unknown = values.compactMap { type, value in CharacteristicPlace(type).map { (place: $0, value: value) } }
      .sorted { CharacteristicPlace.precedes($0.place, $1.place) }
    output.write("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\(AppleDocumentType.text)\n")
    output.start("HealthData")
    output.attribute("locale", locale)
    write(unknown, of: "HealthData")
    let date: Timestamp? =
      switch age {
      case .ofThisExport: exportDate
      case .ofExport(let date): date
      case .unknown: nil
      }
    if date != nil || unknown.contains(where: { $0.place.element == "ExportDate" }) {
      output.start("ExportDate")
      output.attribute("value", date.map { text.date($0) })
      write(unknown, of: "ExportDate")
      output.end()
    }
    output.start("Me")
    for name in Self.characteristics { output.attribute(name, values.removeValue(forKey: SampleType(name)) ?? "") }
    for (type, value) in values.sorted(by: { $0.key < $1.key }) where XMLOutput.isName(type.rawValue) {
      output.attribute(type.rawValue, value)
    }
    write(unknown, of: "Me")
    output.end()
  }

  /// Writes the unknown attributes and children that an import kept of an element, attributes first.
  private mutating func write(_ unknown: [(place: CharacteristicPlace, value: String)], of element: String) {
    for (place, value) in unknown where place.element == element && place.isPrintable(value) {
      if place.isAttribute {
        output.attribute(place.name, value)
      } else if let element = ForeignElement(value) {
        write(element)
      }
    }
  }

  /// The known attributes of `Me`, in the order of the document type. For unset values, the Health app prints an
  /// empty text.
  private static let characteristics = [
    "DateOfBirth", "BiologicalSex", "BloodType", "FitzpatrickSkinType", "CardioFitnessMedicationsUse",
  ].map { "HKCharacteristicTypeIdentifier\($0)" }

  /// Writes the element of a sample.
  ///
  /// - Parameter related: the members of a correlation, the routes of a workout.
  /// - Returns: false for a sample that Apple's export has no element for.
  public mutating func append(_ sample: Sample, related: [Sample] = []) -> Bool {
    switch sample.payload {
    case .quantity, .category, .unknown("record", _):
      guard Self.section(of: sample) == .records else { return false }
      record(sample)
      return true
    case .unknown(let kind, let content):
      guard let element = ForeignElement(kind, content) else { return false }
      other(element, of: sample)
      return true
    default: return Self.writable(sample.payload)?.write(sample, related: related, to: &self) ?? false
    }
  }

  /// Writes the end of the document; to be called once, after the last sample.
  public mutating func end() { output.end() }

  /// Returns the bytes that have been written since the last call.
  public mutating func take() -> [UInt8] { output.take() }
}

extension CharacteristicValue: AppleWritable {
  static var section: AppleExportWriter.Section { .characteristics }

  /// Returns whether ``AppleExportWriter/begin(characteristics:asOf:)`` has written the value. It writes everything
  /// that XML can hold.
  func write(_ sample: Sample, related: [Sample], to writer: inout AppleExportWriter) -> Bool {
    CharacteristicPlace(sample.type)?.isPrintable(value) ?? XMLOutput.isName(sample.type.rawValue)
  }
}
