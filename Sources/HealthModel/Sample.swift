import Foundation

/// One immutable piece of a health record (`HKSample`). It is added, and it may be deleted; it never changes.
public struct Sample: Hashable, Sendable {
  /// HealthKit's UUID, or one derived from the content (``SampleIdentity``) where the source has none.
  public var uuid: UUID
  public var type: SampleType
  public var start: Timestamp
  public var end: Timestamp
  /// When the source wrote it, where known (`creationDate` in Apple's export).
  public var created: Timestamp?
  public var source: Source
  public var device: Device?
  public var metadata: Metadata
  public var payload: Payload

  public init(
    uuid: UUID, type: SampleType, start: Timestamp, end: Timestamp, created: Timestamp? = nil, source: Source,
    device: Device? = nil, metadata: Metadata = [:], payload: Payload
  ) {
    self.uuid = uuid
    self.type = type
    self.start = start
    self.end = end
    self.created = created
    self.source = source
    self.device = device
    self.metadata = metadata
    self.payload = payload
  }

  public var reference: SampleReference {
    SampleReference(type: type, start: start, uuid: uuid)
  }
}

/// What names one sample in every store: a sample is immutable, so its type and start belong to its identity.
public struct SampleReference: Hashable, Sendable, Codable {
  public var type: SampleType
  public var start: Timestamp
  public var uuid: UUID

  public init(type: SampleType, start: Timestamp, uuid: UUID) {
    self.type = type
    self.start = start
    self.uuid = uuid
  }
}

/// The mark of a deleted sample. It outlives the sample and always wins against it.
public struct Tombstone: Hashable, Sendable, Codable {
  public var sample: SampleReference
  /// When it was first deleted, on the machine where that happened.
  public var deleted: Timestamp

  public init(sample: SampleReference, deleted: Timestamp) {
    self.sample = sample
    self.deleted = deleted
  }
}
