/// Makes samples and tombstones of ``CodedChanges``.
public struct ChangeExpander {
  private let changes: CodedChanges
  private let metadata: [Metadata]

  /// Throws `DecodingError` if a text of the dictionaries is not what it should be.
  public init(_ changes: CodedChanges) throws {
    self.changes = changes
    metadata = try changes.metadata.map { try CanonicalJSON.decode(Metadata.self, $0) }
  }

  /// Throws `DecodingError` where the payload is not what its kind has.
  public func sample(_ row: CodedSample) throws -> Sample {
    Sample(
      uuid: row.uuid, type: changes.types[Int(row.type)], start: row.start, end: row.end, created: row.created,
      source: changes.sources[Int(row.source)], device: row.device.map { changes.devices[Int($0)] },
      metadata: row.metadata.map { metadata[Int($0)] } ?? [:],
      payload: try Payload(
        kind: changes.kinds[Int(row.kind)], number: row.number, unit: row.unit.map { changes.units[Int($0)] },
        json: row.payload.map { changes.payloads[Int($0)] }))
  }

  public func tombstone(_ row: CodedTombstone) -> Tombstone {
    Tombstone(
      sample: SampleReference(type: changes.types[Int(row.type)], start: row.start, uuid: row.uuid),
      deleted: row.deleted)
  }
}
