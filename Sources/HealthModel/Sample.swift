import Foundation

/// An immutable entry of a health record (`HKSample`). Samples are added and may be deleted, but never change.
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
  /// The UUID from HealthKit, or a UUID derived from the content (``SampleIdentity``) if the source has none.
  public var uuid: UUID
  /// The sample type. It suggests a kind of ``payload`` but does not enforce it: foreign samples may have another.
  public var type: SampleType
  /// The start of the measurement, in microseconds. Apple's export gives whole seconds.
  public var start: Timestamp
  /// The end of the measurement, equal to ``start`` for an instantaneous reading.
  public var end: Timestamp
  /// The time at which the source wrote the sample, if known (`creationDate` in Apple's export).
  public var created: Timestamp?
  /// The app or device that wrote the sample.
  public var source: Source
  /// The hardware that took the measurement, or `nil` if the source names none.
  public var device: Device?
  /// HealthKit's metadata dictionary, empty if the source gave none. Unknown keys are kept.
  public var metadata: Metadata
  /// The measured content: a quantity, a category, a workout, ...
  public var payload: Payload

  /// Creates a sample without validating it. Readers of untrusted input must validate first.
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

  /// The reference by which tombstones, correlations and workout routes name this sample.
  public var reference: SampleReference {
    SampleReference(type: type, start: start, uuid: uuid)
  }
}

/// The identity of a sample in every store. Type and start belong to it because a sample is immutable.
public struct SampleReference: Hashable, Sendable, Codable {
  /// The type of the sample, which never changes.
  public var type: SampleType
  /// The start of the sample in microseconds, which never changes.
  public var start: Timestamp
  /// The UUID of the sample. Two samples with the same UUID differ in type or start.
  public var uuid: UUID

  /// Creates a reference. The sample need not exist in any store.
  public init(type: SampleType, start: Timestamp, uuid: UUID) {
    self.type = type
    self.start = start
    self.uuid = uuid
  }
}

/// A marker for a deleted sample. It outlives the sample and always wins over it.
public struct Tombstone: Hashable, Sendable, Codable {
  /// The deleted sample, whether or not the store ever held it.
  public var sample: SampleReference
  /// The time of the first deletion, on the machine where it happened.
  public var deleted: Timestamp
  /// The end of the deleted sample, or `nil` if the deletion was reported without it.
  public var end: Timestamp?
  /// The name of the deleted sample's source, or `nil` if the deletion was reported without it.
  public var source: String?
  /// The road by which the deleted sample arrived, or `nil` if the deletion was reported without it.
  public var road: SampleRoad?
  /// A one-byte hash of a deleted quantity's value, which tells deletions of different values apart. `nil` if the
  /// value is unknown or must not be revealed. See ``ValueHint``.
  public var hint: UInt8?
  /// The statement that a deleted record belonged to, if its key has several records. The UUID in ``sample`` is then
  /// ``KeyStatement/content``, because another record may have taken over the identity.
  public var statement: KeyStatement?

  /// Creates a tombstone.
  ///
  /// - Parameter deleted: the time of the deletion, not of its arrival on this machine.
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
