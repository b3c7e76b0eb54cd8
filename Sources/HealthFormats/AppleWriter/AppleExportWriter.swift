import HealthModel

/// Writes an `export.xml` as the Health app writes it: version 14 of the document type, the same order of elements and of
/// attributes, one offset for all dates.
///
/// What an import of Apple's export made of it is written back; `docs/formats.md` lists what may differ. What HealthKit's
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

  let text: AppleText
  private let exportDate: Timestamp
  private let locale: String
  var output = XMLOutput()
  /// The metadata of the workout that is being written.
  var openWorkout: KeptMetadata?
  var openRoute: OpenRoute?

  /// - Parameters:
  ///   - exportDate: when the export was made.
  ///   - offset: seconds east of UTC, in whole minutes, that all dates are printed with.
  public init(exportDate: Timestamp, offset: Int, locale: String = "en_US") {
    self.exportDate = exportDate
    self.locale = locale
    text = AppleText(offset: offset)
  }

  /// Where `sample` belongs.
  public static func section(of sample: Sample) -> Section {
    switch sample.payload {
    case .characteristic: .characteristics
    case .quantity, .category: sample.type.rawValue.begins(with: "hae.") ? .none : .records
    case .correlation: .correlations
    case .workout: .workouts
    case .activitySummary: .activitySummaries
    case .audiogram, .visionPrescription, .clinicalRecord: .others
    case .workoutRoute: .routes
    case .electrocardiogram: .none
    case .unknown(let kind, let content):
      kind == "record" ? .records : ForeignElement(kind, content) == nil ? .none : .others
    }
  }

  /// Whether Apple's export keeps a part of `sample` in a file beside the XML.
  public static func hasMore(_ sample: Sample) -> Bool {
    switch sample.payload {
    case .workoutRoute(let route): route.path != nil && !route.points.isEmpty
    case .clinicalRecord(let record): record.resource != nil
    case .visionPrescription(let prescription): prescription.attachments.contains { $0.content != nil }
    default: false
    }
  }

  /// What comes before the first sample.
  ///
  /// - Parameter characteristics: all of the person's.
  public mutating func begin(characteristics: [Sample]) {
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
    output.start("ExportDate")
    output.attribute("value", text.date(exportDate))
    write(unknown, of: "ExportDate")
    output.end()
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

  /// Whether ``begin(characteristics:)`` could write it.
  private static func isPrintable(characteristic sample: Sample) -> Bool {
    guard case .characteristic(let value) = sample.payload else { return false }
    return CharacteristicPlace(sample.type)?.isPrintable(value.value) ?? XMLOutput.isName(sample.type.rawValue)
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
    switch Self.section(of: sample) {
    case .records: record(sample)
    case .correlations: correlation(sample, members: related)
    case .workouts:
      guard beginWorkout(sample) else { return false }
      for route in related { append(route: route) }
      endWorkout()
    case .activitySummaries: activitySummary(sample)
    case .others:
      switch sample.payload {
      case .audiogram: audiogram(sample)
      case .visionPrescription: prescription(sample)
      case .clinicalRecord: clinicalRecord(sample)
      default: other(sample)
      }
    // Of which `Me` holds all.
    case .characteristics: return Self.isPrintable(characteristic: sample)
    case .routes, .none: return false
    }
    return true
  }

  /// Writes the end of the document; to be called once, after the last sample.
  public mutating func end() { output.end() }

  /// The bytes that have been written since the last call.
  public mutating func take() -> [UInt8] { output.take() }
}
