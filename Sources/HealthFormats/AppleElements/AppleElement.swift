import HealthModel

/// How Apple's export has the samples of one kind of payload. What does not adopt this is left out of what is written.
protocol AppleWritable: SamplePayload {
  /// Where its elements belong in the file.
  static var section: AppleExportWriter.Section { get }

  /// Whether Apple's export keeps a part of it in a file beside the XML.
  var hasPartInFile: Bool { get }

  /// Writes the element of `sample`, whose payload this is.
  ///
  /// - Parameter related: the members of a correlation, the routes of a workout.
  /// - Returns: false, and nothing written, where Apple's export has no element for it.
  func write(_ sample: Sample, related: [Sample], to writer: inout AppleExportWriter) -> Bool
}

extension AppleWritable {
  var hasPartInFile: Bool { false }
}

/// A kind of payload with an element of its own below `HealthData`, which is read as a tree when it is whole.
///
/// Reader, writer and survey ask this; a kind that adopts it, in a file of this folder, is named nowhere else.
protocol AppleElement: AppleWritable {
  static var elementName: String { get }

  /// Of an element that has no `type`.
  static var typeWithoutName: SampleType { get }

  /// The attribute that says when it began, where that is not `startDate`.
  static var startAttribute: StaticString? { get }

  /// Whether the format requires `sourceName`.
  static var hasSource: Bool { get }

  /// Makes the payload of an element. What it has no place for becomes metadata.
  ///
  /// - Parameter draft: what elements have in common has been read; the attributes are those that it did not take.
  static func read(_ element: RawElement, into draft: inout Draft, _ context: inout ReadingContext)
}

extension AppleElement {
  static var section: AppleExportWriter.Section { .others }
  static var startAttribute: StaticString? { nil }
  static var hasSource: Bool { true }
}

/// All that adopt ``AppleElement``.
enum AppleElements {
  static let all: [any AppleElement.Type] = Payload.contentTypes.compactMap { $0 as? any AppleElement.Type }

  /// In the order in which an element is searched for them.
  static let startAttributes: [StaticString] = all.compactMap { $0.startAttribute }

  private static let byName = Dictionary(uniqueKeysWithValues: all.map { ($0.elementName, $0) })

  /// `nil` for an element that no kind has.
  static func named(_ name: String) -> (any AppleElement.Type)? { byName[name] }
}
