import GRDB
import HealthModel

/// Rows of `sample` and `tombstone`, collected as ``CodedChanges`` in one read.
struct StoredChanges {
  static let sampleColumns =
    "change, type, start, uuid, duration, created, source, device, kind, value, unit, payload, metadata, road, statement"
  static let tombstoneColumns = "change, type, start, uuid, deleted, duration, source, road, hint, statement"

  private let db: Database
  private let cut: SampleRedaction?
  private var types = StoredDictionary("SELECT identifier FROM type WHERE id = ?", decode: { SampleType($0) })
  private var units = StoredDictionary.units
  private var kinds = StoredDictionary.kinds
  private var sources = StoredDictionary<Source>.all
  private var devices = StoredDictionary<Device>.devices
  private var metadata = ExactIndex<String>()
  private var metadataCount = 0
  private var payloads: [String] = []
  private var statements: [KeyStatement] = []
  private(set) var samples: [CodedSample] = []
  private(set) var tombstones: [CodedTombstone] = []
  /// The change numbers of ``samples`` and ``tombstones``.
  private(set) var sampleNumbers: [Int64] = []
  private(set) var tombstoneNumbers: [Int64] = []
  /// The size of all metadata and payloads so far, in bytes.
  private var ownTextCount = 0
  /// The size of all texts so far, including names, in bytes.
  var textCount: Int {
    ownTextCount + types.textCount + units.textCount + kinds.textCount + sources.textCount + devices.textCount
  }

  /// Returns the size of metadata and payload of a row of ``sampleColumns``, in bytes.
  static func textCount(of row: StoredColumns) -> Int { row.textCount(11) + row.textCount(12) }

  /// Creates an empty collection.
  ///
  /// - Parameter cut: the parts of samples that the reader may see; `nil` for all.
  init(_ db: Database, cut: SampleRedaction? = nil) {
    self.db = db
    self.cut = cut.flatMap { $0.isWhole ? nil : $0 }
  }

  /// Adds a row of ``sampleColumns``.
  mutating func addSample(_ row: StoredColumns) throws {
    let start = row.integer(2)
    let created = row.optionalInteger(5)
    var payload: UInt32?
    let kind = try kinds.index(of: row.integer(8), db)
    var (payloadText, metadataText) = (row.text(11), row.text(12))
    if let cut, SampleRedaction.kinds.contains(kinds.values[Int(kind)]) {
      try cut.apply(kind: kinds.values[Int(kind)], to: &payloadText, &metadataText)
    }
    if let text = payloadText {
      payload = UInt32(payloads.count)
      payloads.append(text)
      ownTextCount += text.utf8.count
    }
    samples.append(
      CodedSample(
        uuid: try row.uuid(3), start: Timestamp(microseconds: start),
        end: Timestamp(microseconds: start &+ row.integer(4)),
        created: created.map { Timestamp(microseconds: start &+ $0) }, type: try types.index(of: row.integer(1), db),
        kind: kind, source: try sources.index(of: row.integer(6), db),
        device: try row.optionalInteger(7).map { try devices.index(of: $0, db) },
        metadata: metadataText.map { index(ofMetadata: $0) },
        number: row.optionalDouble(9), unit: try row.optionalInteger(10).map { try units.index(of: $0, db) },
        payload: payload, road: SampleRoad(stored: row.integer(13)),
        statement: try row.statement(14).map { add($0) }))
    sampleNumbers.append(row.integer(0))
  }

  private mutating func add(_ statement: KeyStatement) -> UInt32 {
    statements.append(statement)
    return UInt32(statements.count - 1)
  }

  private mutating func index(ofMetadata text: String) -> UInt32 {
    let index = metadata.index(of: text)
    if Int(index) == metadataCount {
      metadataCount += 1
      ownTextCount += text.utf8.count
    }
    return index
  }

  /// Adds a row of ``tombstoneColumns``.
  mutating func addTombstone(_ row: StoredColumns) throws {
    let start = row.integer(2)
    let end = row.optionalInteger(5).map { Timestamp(microseconds: start &+ $0) }
    // A tombstone without an end has its source only for filters.
    let source = try (end == nil ? nil : row.optionalInteger(6)).map { try sources.index(of: $0, db) }
    tombstones.append(
      CodedTombstone(
        type: try types.index(of: row.integer(1), db), start: Timestamp(microseconds: start), uuid: try row.uuid(3),
        deleted: Timestamp(microseconds: row.integer(4)), end: end, source: source,
        road: SampleRoad(stored: row.integer(7)), hint: row.optionalInteger(8).flatMap(UInt8.init(exactly:)),
        statement: try row.statement(9).map { add($0) }))
    tombstoneNumbers.append(row.integer(0))
  }

  /// Removes the last samples and tombstones, until the given numbers are left.
  mutating func keepFirst(samples: Int, tombstones: Int) {
    self.samples.removeLast(self.samples.count - samples)
    self.tombstones.removeLast(self.tombstones.count - tombstones)
    sampleNumbers.removeLast(sampleNumbers.count - samples)
    tombstoneNumbers.removeLast(tombstoneNumbers.count - tombstones)
  }

  var changes: CodedChanges {
    CodedChanges(
      types: types.values, kinds: kinds.values, units: units.values, sources: sources.values, devices: devices.values,
      metadata: metadata.values, payloads: payloads, statements: statements, samples: samples, tombstones: tombstones)
  }
}

extension SampleRoad {
  /// Creates a road from the number in a row.
  init(stored number: Int64) {
    self = UInt8(exactly: number).flatMap(Self.init(rawValue:)) ?? .unknown
  }
}

extension SampleRedaction {
  /// Applies the cut to the texts of a row.
  fileprivate func apply(kind: String, to payload: inout String?, _ metadata: inout String?) throws {
    let stored = (
      payload: try Payload(kind: kind, number: nil, unit: nil, json: payload),
      metadata: try metadata.map { try CanonicalJSON.decode(Metadata.self, $0) } ?? [:]
    )
    var shown = stored
    apply(to: &shown.payload, &shown.metadata)
    if shown == stored { return }
    payload = try CodedPayload(shown.payload).json
    metadata = shown.metadata.isEmpty ? nil : MetadataText.encode(shown.metadata)
  }
}
