import Foundation

/// A sample whose texts are indices into the dictionaries of ``CodedChanges``.
public struct CodedSample: Hashable, Sendable {
  /// Not in a dictionary: no two samples share one.
  public var uuid: UUID
  /// See ``Sample/start``.
  public var start: Timestamp
  /// See ``Sample/end``.
  public var end: Timestamp
  /// See ``Sample/created``.
  public var created: Timestamp?
  /// An index of ``CodedChanges/types``.
  public var type: UInt32
  /// An index of ``CodedChanges/kinds``.
  public var kind: UInt32
  /// An index of ``CodedChanges/sources``.
  public var source: UInt32
  /// An index of ``CodedChanges/devices``; `nil` for a sample without a device.
  public var device: UInt32?
  /// An index of ``CodedChanges/metadata``; `nil` for a sample without metadata.
  public var metadata: UInt32?
  /// The value of a quantity, and of a category whose integer says everything. `nil` in a quantity stands for NaN.
  public var number: Double?
  /// An index of ``CodedChanges/units``; `nil` for what is no quantity.
  public var unit: UInt32?
  /// An index of ``CodedChanges/payloads``; `nil` where number and unit say it all.
  public var payload: UInt32?
  /// How it came. A ``Sample`` does not say it.
  public var road: SampleRoad
  /// An index of ``CodedChanges/statements``, for one of several records of a key. A ``Sample`` does not say it.
  public var statement: UInt32?

  /// A row; its indices mean something only beside their ``CodedChanges``.
  public init(
    uuid: UUID, start: Timestamp, end: Timestamp, created: Timestamp?, type: UInt32, kind: UInt32, source: UInt32,
    device: UInt32?, metadata: UInt32?, number: Double?, unit: UInt32?, payload: UInt32?,
    road: SampleRoad = .unknown, statement: UInt32? = nil
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
    self.road = road
    self.statement = statement
  }
}

/// What a ``CodedSample`` says in columns of its own, as its kind tells.
package enum CodedForm: Hashable, Sendable {
  /// ``CodedSample/number`` and ``CodedSample/unit`` say all of a quantity.
  case quantity
  /// ``CodedSample/number`` says all of a category that has no payload.
  case category
  /// ``CodedSample/payload`` says all.
  case other

  /// - Parameter kind: see ``Payload/kind``.
  package init(kind: String) {
    self =
      switch kind {
      case Quantity.kind: .quantity
      case CategoryValue.kind: .category
      default: .other
      }
  }
}

/// A tombstone whose type and source are indices into the dictionaries of ``CodedChanges``.
public struct CodedTombstone: Hashable, Sendable {
  /// An index of ``CodedChanges/types``.
  public var type: UInt32
  /// Of the deleted sample.
  public var start: Timestamp
  /// Of the deleted sample.
  public var uuid: UUID
  /// See ``Tombstone/deleted``.
  public var deleted: Timestamp
  /// See ``Tombstone/end``.
  public var end: Timestamp?
  /// An index of ``CodedChanges/sources``, of which only the name counts; see ``Tombstone/source``.
  public var source: UInt32?
  /// See ``Tombstone/road``.
  public var road: SampleRoad
  /// See ``Tombstone/hint``.
  public var hint: UInt8?
  /// An index of ``CodedChanges/statements``; see ``Tombstone/statement``.
  public var statement: UInt32?

  /// A row; its indices mean something only beside their ``CodedChanges``.
  public init(
    type: UInt32, start: Timestamp, uuid: UUID, deleted: Timestamp, end: Timestamp? = nil, source: UInt32? = nil,
    road: SampleRoad = .unknown, hint: UInt8? = nil, statement: UInt32? = nil
  ) {
    self.type = type
    self.start = start
    self.uuid = uuid
    self.deleted = deleted
    self.end = end
    self.source = source
    self.road = road
    self.hint = hint
    self.statement = statement
  }
}
