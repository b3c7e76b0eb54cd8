import HealthModel

/// Writes an `export.xml` as the Health app writes it: version 14 of the document type, the same order of elements and of
/// attributes, one offset for all dates.
///
/// What an import of Apple's export made of it is written back; `docs/reference/formats/apple-xml.md` lists what may differ. What HealthKit's
/// export has no element for, such as samples of another app's own types, is left out.
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
  /// Where the elements of a type belong in the file.
  public enum Section: Int, Sendable, CaseIterable {
    /// In the order of the file. `characteristics` are attributes of `Me`, `others` are audiograms, prescriptions,
    /// clinical records and unknown elements; the rest are elements of their own kind.
    case characteristics, records, correlations, others, workouts, activitySummaries
    /// Written within the elements of their workouts.
    case routes
    /// Apple's export has no element for these.
    case none
  }

  /// When values were so that drift from export to export. The format says it once for all: as the date of the export.
  public enum Age: Hashable, Sendable {
    /// There are no such values.
    case ofThisExport
    /// They came with an export, of which this was the date; the newest, where there were several.
    case ofExport(Timestamp)
    /// They came with an export that had no date; with one, they would be newer than those of others.
    case unknown

    /// Takes another value into account.
    ///
    /// - Parameter date: of its export; `nil` where that had none.
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
  /// The metadata of the workout that is being written.
  var openWorkout: KeptMetadata?
  var openRoute: OpenRoute?
  /// The device that was printed last, and what it was printed as.
  var lastDevice: (device: Device, text: String?)?

  /// - Parameters:
  ///   - exportDate: when the export was made.
  ///   - offset: seconds east of UTC, in whole minutes, that all dates are printed with.
  public init(exportDate: Timestamp, offset: Int, locale: String = "en") {
    self.exportDate = exportDate
    self.locale = locale
    text = AppleText(offset: offset)
    output = XMLOutput()
  }

  /// Prints nothing: whoever asks for single elements takes them from ``output``.
  init(keepingElements offset: Int) {
    self.init(exportDate: Timestamp(seconds: 0), offset: offset)
    output = XMLOutput(keepsElements: true)
  }

  /// Where `sample` belongs.
  public static func section(of sample: Sample) -> Section {
    switch sample.payload {
    case .quantity, .category: AppReadings.isOwnType(sample.type) ? .none : .records
    case .unknown("record", _): .records
    case .unknown(let kind, let content): ForeignElement(kind, content) == nil ? .none : .others
    default: writable(sample.payload).map { type(of: $0).section } ?? .none
    }
  }

  /// Whether Apple's export keeps a part of `sample` in a file beside the XML.
  public static func hasMore(_ sample: Sample) -> Bool { writable(sample.payload)?.hasPartInFile ?? false }

  private static func writable(_ payload: Payload) -> (any AppleWritable)? { payload.content as? any AppleWritable }

  /// What comes before the first sample.
  ///
  /// - Parameters:
  ///   - characteristics: all of the person's.
  ///   - age: when their values, and those of activity summaries, were so.
  public mutating func begin(characteristics: [Sample], asOf age: Age = .ofThisExport) {
    var values: [SampleType: String] = [:]
    // The newest of two.
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

  /// What an import has kept of an element, attributes first.
  private mutating func write(_ unknown: [(place: CharacteristicPlace, value: String)], of element: String) {
    for (place, value) in unknown where place.element == element && place.isPrintable(value) {
      if place.isAttribute {
        output.attribute(place.name, value)
      } else if let element = ForeignElement(value) {
        write(element)
      }
    }
  }

  /// In the order of the document type; the Health app prints an empty text for what the person has not told.
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

  /// The bytes that have been written since the last call.
  public mutating func take() -> [UInt8] { output.take() }
}

extension CharacteristicValue: AppleWritable {
  static var section: AppleExportWriter.Section { .characteristics }

  /// `Me`, which ``AppleExportWriter/begin(characteristics:)`` has written, holds all that XML can say.
  func write(_ sample: Sample, related: [Sample], to writer: inout AppleExportWriter) -> Bool {
    CharacteristicPlace(sample.type)?.isPrintable(value) ?? XMLOutput.isName(sample.type.rawValue)
  }
}
