import Foundation

/// One immutable piece of a health record (`HKSample`). It is added, and it may be deleted; it never changes.
///
/// ```swift
/// let sample = Sample(
///   uuid: UUID(), type: SampleType("HKQuantityTypeIdentifierHeartRate"), start: Timestamp(seconds: 1_718_447_400),
///   end: Timestamp(seconds: 1_718_447_400), source: Source(name: "Casey’s Apple Watch"),
///   metadata: ["HKMetadataKeyHeartRateMotionContext": .integer(1)], payload: .quantity(Quantity(62, "count/min")))
/// if case .quantity(let rate) = sample.payload { print(sample.type.shortName, rate.value, rate.unit) }
/// let json = try JSONEncoder().encode(sample)
/// ```
public struct Sample: Hashable, Sendable {
  /// HealthKit's UUID, or one derived from the content (``SampleIdentity``) where the source has none.
  public var uuid: UUID
  /// Says also which ``payload`` is to be expected, but does not bind it: foreign samples may have another.
  public var type: SampleType
  /// When what was measured began, to the microsecond; Apple's export gives whole seconds.
  public var start: Timestamp
  /// When it ended; equal to ``start`` for a reading at one instant.
  public var end: Timestamp
  /// When the source wrote it, where known (`creationDate` in Apple's export).
  public var created: Timestamp?
  /// The app or device that wrote it.
  public var source: Source
  /// The hardware that measured it; `nil` where the source names none.
  public var device: Device?
  /// HealthKit's metadata dictionary; empty where the source gave none. Unknown keys are kept.
  public var metadata: Metadata
  /// What was measured: a number, a category, a workout, ...
  public var payload: Payload

  /// Nothing is checked: a reader of foreign bytes decides what it takes before it makes a sample.
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

  /// What a tombstone, a correlation or a workout route names this sample by.
  public var reference: SampleReference {
    SampleReference(type: type, start: start, uuid: uuid)
  }
}

/// What names one sample in every store: a sample is immutable, so its type and start belong to its identity.
public struct SampleReference: Hashable, Sendable, Codable {
  /// Of the sample; it never changes.
  public var type: SampleType
  /// Of the sample, to the microsecond; it never changes.
  public var start: Timestamp
  /// Of the sample. Two samples with one UUID differ in type or start.
  public var uuid: UUID

  /// A reference may name a sample that no store holds.
  public init(type: SampleType, start: Timestamp, uuid: UUID) {
    self.type = type
    self.start = start
    self.uuid = uuid
  }
}

/// The mark of a deleted sample. It outlives the sample and always wins against it.
public struct Tombstone: Hashable, Sendable, Codable {
  /// The deleted sample, whether or not the store ever held it.
  public var sample: SampleReference
  /// When it was first deleted, on the machine where that happened.
  public var deleted: Timestamp
  /// The end of the deleted sample; `nil` where the deletion was reported without it.
  public var end: Timestamp?
  /// The name of the deleted sample's source; likewise.
  public var source: String?
  /// Of the deleted sample; likewise.
  public var road: SampleRoad?
  /// Of a deleted quantity, a byte of a hash of its value, to tell deletions of different values apart; `nil` where it is unknown,
  /// or shall not be known.
  public var hint: UInt8?
  /// The statement of a deleted record whose key has several. The UUID is its ``KeyStatement/content`` then, because another record
  /// may have the identity by now.
  public var statement: KeyStatement?

  /// - Parameter deleted: the time of the deletion, not that of its arrival here.
  public init(
    sample: SampleReference, deleted: Timestamp, end: Timestamp? = nil, source: String? = nil, road: SampleRoad? = nil,
    hint: UInt8? = nil, statement: KeyStatement? = nil
  ) {
    self.sample = sample
    self.deleted = deleted
    self.end = end
    self.source = source
    self.road = road
    self.hint = hint
    self.statement = statement
  }
}
