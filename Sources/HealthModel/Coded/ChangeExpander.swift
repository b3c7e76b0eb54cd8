/// A decoder of ``CodedChanges`` into samples and tombstones.
public struct ChangeExpander {
  private let changes: CodedChanges
  private let metadata: [Metadata]

  /// Creates an expander.
  ///
  /// - Throws: `DecodingError` if the metadata cannot be decoded.
  public init(_ changes: CodedChanges) throws {
    self.changes = changes
    metadata = try changes.metadata.map { try CanonicalJSON.decode(Metadata.self, $0) }
  }

  /// Returns the decoded sample.
  ///
  /// - Throws: `DecodingError` if the payload does not match its kind.
  public func sample(_ row: CodedSample) throws -> Sample {
    try changes.sample(row) { metadata[Int($0)] }
  }

  /// Returns the decoded tombstone.
  ///
  /// - Precondition: `row` belongs to the changes with which the expander was created.
  public func tombstone(_ row: CodedTombstone) -> Tombstone { changes.tombstone(row) }
}

extension CodedChanges {
  /// Decodes a sample of ``samples``. To decode many, use a ``ChangeExpander``, which decodes each metadata text
  /// once.
  ///
  /// - Throws: `DecodingError` if the metadata or the payload cannot be decoded.
  public func sample(_ row: CodedSample) throws -> Sample {
    try sample(row) { try CanonicalJSON.decode(Metadata.self, metadata[Int($0)]) }
  }

  /// Decodes a tombstone of ``tombstones``.
  public func tombstone(_ row: CodedTombstone) -> Tombstone {
    Tombstone(
      sample: SampleReference(type: types[Int(row.type)], start: row.start, uuid: row.uuid), deleted: row.deleted,
      end: row.end, source: row.source.map { sources[Int($0)].name }, road: row.road == .unknown ? nil : row.road,
      hint: row.hint, statement: row.statement.map { statements[Int($0)] })
  }

  fileprivate func sample(_ row: CodedSample, metadata: (UInt32) throws -> Metadata) throws -> Sample {
    Sample(
      uuid: row.uuid, type: types[Int(row.type)], start: row.start, end: row.end, created: row.created,
      source: sources[Int(row.source)], device: row.device.map { devices[Int($0)] },
      metadata: try row.metadata.map(metadata) ?? [:],
      payload: try Payload(
        kind: kinds[Int(row.kind)], number: row.number, unit: row.unit.map { units[Int($0)] },
        json: row.payload.map { payloads[Int($0)] }))
  }
}
