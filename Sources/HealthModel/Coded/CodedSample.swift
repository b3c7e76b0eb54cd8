import Foundation

/// A sample whose texts are indices into the dictionaries of ``CodedChanges``.
public struct CodedSample: Hashable, Sendable {
  /// The UUID, stored inline because no two samples share it.
  public var uuid: UUID
  /// The start; see ``Sample/start``.
  public var start: Timestamp
  /// The end; see ``Sample/end``.
  public var end: Timestamp
  /// The creation time; see ``Sample/created``.
  public var created: Timestamp?
  /// An index of ``CodedChanges/types``.
  public var type: UInt32
  /// An index of ``CodedChanges/kinds``.
  public var kind: UInt32
  /// An index of ``CodedChanges/sources``.
  public var source: UInt32
  /// An index of ``CodedChanges/devices``, or `nil` for a sample without a device.
  public var device: UInt32?
  /// An index of ``CodedChanges/metadata``, or `nil` for a sample without metadata.
  public var metadata: UInt32?
  /// The value of a quantity, or of a category that is fully described by its integer. `nil` in a quantity means NaN.
  public var number: Double?
  /// An index of ``CodedChanges/units``, or `nil` for a payload that is not a quantity.
  public var unit: UInt32?
  /// An index of ``CodedChanges/payloads``, or `nil` if number and unit hold the entire payload.
  public var payload: UInt32?
  /// The road by which the sample arrived, which is not part of a ``Sample``.
  public var road: SampleRoad
  /// An index of ``CodedChanges/statements`` for one of several records of a key. It is not part of a ``Sample``.
  public var statement: UInt32?

  /// Creates a row. Its indices are meaningful only together with their ``CodedChanges``.
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

/// The columns that hold the payload of a ``CodedSample``, depending on its kind.
package enum CodedForm: Hashable, Sendable {
  /// A quantity, in ``CodedSample/number`` and ``CodedSample/unit``.
  case quantity
  /// A category, in ``CodedSample/number`` unless it has a ``CodedSample/payload``.
  case category
  /// Any other kind, in ``CodedSample/payload``.
  case other

  /// Creates the form of a kind.
  ///
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
  /// The start of the deleted sample.
  public var start: Timestamp
  /// The UUID of the deleted sample.
  public var uuid: UUID
  /// The time of the deletion; see ``Tombstone/deleted``.
  public var deleted: Timestamp
  /// The end of the deleted sample; see ``Tombstone/end``.
  public var end: Timestamp?
  /// An index of ``CodedChanges/sources``, of which only the name is used; see ``Tombstone/source``.
  public var source: UInt32?
  /// The road of the deleted sample; see ``Tombstone/road``.
  public var road: SampleRoad
  /// The value hint of a deleted quantity; see ``Tombstone/hint``.
  public var hint: UInt8?
  /// An index of ``CodedChanges/statements``; see ``Tombstone/statement``.
  public var statement: UInt32?

  /// Creates a row. Its indices are meaningful only together with their ``CodedChanges``.
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
