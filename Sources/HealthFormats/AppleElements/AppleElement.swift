import HealthModel

/// A payload that Apple's export has an element for. Samples with other payloads are left out when an export is
/// written.
protocol AppleWritable: SamplePayload {
  /// The section of the file that its elements belong to.
  static var section: AppleExportWriter.Section { get }

  /// Whether Apple's export keeps a part of the payload in a file beside the XML.
  var hasPartInFile: Bool { get }

  /// Writes the element of `sample`, whose payload this is.
  ///
  /// - Parameter related: the members of a correlation, the routes of a workout.
  /// - Returns: false, with nothing written, if Apple's export has no element for the sample.
  func write(_ sample: Sample, related: [Sample], to writer: inout AppleExportWriter) -> Bool
}

extension AppleWritable {
  var hasPartInFile: Bool { false }
}

/// A payload with an element of its own below `HealthData`, which is read as a complete tree.
///
/// The reader, the writer and the survey find all conforming types in ``AppleElements``; a new type needs only a file
/// in this folder.
protocol AppleElement: AppleWritable {
  static var elementName: String { get }

  /// The sample type of an element without a `type` attribute.
  static var typeWithoutName: SampleType { get }

  /// The attribute with the start date, if that is not `startDate`.
  static var startAttribute: StaticString? { get }

  /// Whether the format requires `sourceName`.
  static var hasSource: Bool { get }

  /// Reads the payload of an element. Everything that it has no place for becomes metadata.
  ///
  /// - Parameter draft: the sample with the common attributes already read. Its attributes are those that are left.
  static func read(_ element: RawElement, into draft: inout Draft, _ context: inout ReadingContext)
}

extension AppleElement {
  static var section: AppleExportWriter.Section { .others }
  static var startAttribute: StaticString? { nil }
  static var hasSource: Bool { true }
}

/// A list of all types that conform to ``AppleElement``.
enum AppleElements {
  static let all: [any AppleElement.Type] = Payload.contentTypes.compactMap { $0 as? any AppleElement.Type }

  /// The attributes that may hold a start date, in the order in which they are tried.
  static let startAttributes: [StaticString] = all.compactMap { $0.startAttribute }

  private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.elementName, $0) })

  /// Returns the type with this element name, or `nil` if there is none.
  static func named(_ name: String) -> (any AppleElement.Type)? { byName[name] }
}
