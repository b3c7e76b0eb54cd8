/// A payload whose samples of the same type and start are all readings of the same thing.
package protocol SingleReading: SamplePayload {
  /// Whether the sample's metadata are part of its content.
  var includesMetadata: Bool { get }
}

extension SingleReading {
  package var includesMetadata: Bool { false }
}

extension Payload {
  /// The kinds of all ``SingleReading`` payloads.
  package static let kindsOneAtATime = Set(contentTypes.filter { $0 is any SingleReading.Type }.map { $0.kind })
}

extension Sample {
  /// Returns whether two readings with the same identity have the same content.
  public func readsSame(as other: Sample) -> Bool {
    guard payload == other.payload else { return false }
    guard let reading = payload.content as? any SingleReading, reading.includesMetadata else { return true }
    return metadata == other.metadata
  }
}
