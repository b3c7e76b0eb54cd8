/// A kind of which all samples of one type that start at one instant are readings of one thing.
package protocol SingleReading: SamplePayload {
  /// What it says, as text in a fixed order, which is part of identities and never changed.
  var fields: [String] { get }

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
  /// Whether two readings of one thing (``isReading(ofSameAs:)``) say the same.
  public func readsSame(as other: Sample) -> Bool {
    guard payload == other.payload else { return false }
    guard let reading = payload.content as? any SingleReading, reading.includesMetadata else { return true }
    return metadata == other.metadata
  }

  /// Whether two samples whose values drift are readings of one thing, of which only the newer counts: of a
  /// characteristic, of a day's activity, or of one number for the same time and from the same source.
  public func isReading(ofSameAs other: Sample) -> Bool {
    guard type == other.type, start == other.start else { return false }
    return payload.content is any SingleReading || end == other.end && source.name.isExactly(other.source.name)
  }
}
