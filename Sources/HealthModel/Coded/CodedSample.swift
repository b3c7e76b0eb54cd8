import Foundation

/// A sample whose texts are indices into the dictionaries of ``CodedChanges``.
public struct CodedSample: Hashable, Sendable {
  public var uuid: UUID
  public var start: Timestamp
  public var end: Timestamp
  public var created: Timestamp?
  public var type: UInt32
  public var kind: UInt32
  public var source: UInt32
  public var device: UInt32?
  public var metadata: UInt32?
  /// Of a quantity, and of a category whose integer says everything. A quantity without is NaN.
  public var number: Double?
  /// Of a quantity.
  public var unit: UInt32?
  /// Of what a number does not say.
  public var payload: UInt32?

  public init(
    uuid: UUID, start: Timestamp, end: Timestamp, created: Timestamp?, type: UInt32, kind: UInt32, source: UInt32,
    device: UInt32?, metadata: UInt32?, number: Double?, unit: UInt32?, payload: UInt32?
  ) {
    self.uuid = uuid
    self.start = start
    self.end = end
    self.created = created
    self.type = type
    self.kind = kind
    self.source = source
    self.device = device
    self.metadata = metadata
    self.number = number
    self.unit = unit
    self.payload = payload
  }
}

/// A tombstone whose type is an index into the dictionary of ``CodedChanges``.
public struct CodedTombstone: Hashable, Sendable {
  public var type: UInt32
  public var start: Timestamp
  public var uuid: UUID
  public var deleted: Timestamp

  public init(type: UInt32, start: Timestamp, uuid: UUID, deleted: Timestamp) {
    self.type = type
    self.start = start
    self.uuid = uuid
    self.deleted = deleted
  }
}
