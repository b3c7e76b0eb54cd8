/// A kind of which all samples of one type that start at one instant are readings of one thing.
package protocol SingleReading: SamplePayload {
  /// Whether the sample's metadata are a part of what it says.
  var includesMetadata: Bool { get }
}

extension SingleReading {
  package var includesMetadata: Bool { false }
}

extension Payload {
  /// The kinds of ``SingleReading``.
  package static let kindsOneAtATime = Set(contentTypes.filter { $0 is any SingleReading.Type }.map { $0.kind })
}

extension Sample {
  /// Whether two readings with one identity say the same.
  public func readsSame(as other: Sample) -> Bool {
    guard payload == other.payload else { return false }
    guard let reading = payload.content as? any SingleReading, reading.includesMetadata else { return true }
    return metadata == other.metadata
  }
}
