/// An encoder that dictionary-encodes samples and tombstones into ``CodedChanges``.
public struct ChangeCoder {
  private var types = ExactIndex<SampleType>()
  private var kinds = ExactIndex<String>()
  private var units = ExactIndex<String>()
  private var sources = ExactIndex<Source>()
  private var devices = ExactIndex<Device>()
  private var metadata = ExactIndex<String>()
  private var payloads: [String] = []
  private var statements: [KeyStatement] = []
  private var samples: [CodedSample] = []
  private var tombstones: [CodedTombstone] = []

  /// Creates a coder with empty dictionaries. Values get indices in order of appearance.
  public init() {}

  /// The changes added so far.
  public var changes: CodedChanges {
    CodedChanges(
      types: types.values, kinds: kinds.values, units: units.values, sources: sources.values, devices: devices.values,
      metadata: metadata.values, payloads: payloads, statements: statements, samples: samples, tombstones: tombstones)
  }

  /// Appends a sample.
  ///
  /// - Throws: `EncodingError` for a sample that cannot be written as JSON.
  public mutating func add(_ sample: Sample, road: SampleRoad = .unknown, statement: KeyStatement? = nil) throws {
    let payload = try CodedPayload(sample.payload)
    samples.append(
      CodedSample(
        uuid: sample.uuid, start: sample.start, end: sample.end, created: sample.created,
        type: types.index(of: sample.type), kind: kinds.index(of: sample.payload.kind),
        source: sources.index(of: sample.source), device: sample.device.map { devices.index(of: $0) },
        metadata: sample.metadata.isEmpty ? nil : metadata.index(of: MetadataText.encode(sample.metadata)),
        number: payload.number, unit: payload.unit.map { units.index(of: $0) }, payload: payload.json.map { add($0) },
        road: road, statement: statement.map { add($0) }))
  }

  /// Appends a tombstone.
  public mutating func add(_ tombstone: Tombstone) {
    let sample = tombstone.sample
    tombstones.append(
      CodedTombstone(
        type: types.index(of: sample.type), start: sample.start, uuid: sample.uuid, deleted: tombstone.deleted,
        end: tombstone.end, source: tombstone.source.map { sources.index(of: Source(name: $0)) },
        road: tombstone.road ?? .unknown, hint: tombstone.hint, statement: tombstone.statement.map { add($0) }))
  }

  private mutating func add(_ statement: KeyStatement) -> UInt32 {
    statements.append(statement)
    return UInt32(statements.count - 1)
  }

  private mutating func add(_ json: String) -> UInt32 {
    payloads.append(json)
    return UInt32(payloads.count - 1)
  }
}
