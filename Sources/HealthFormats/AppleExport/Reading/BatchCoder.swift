import Foundation
import HealthModel

/// An encoder for samples, which encodes one batch after the other.
///
/// Unlike a ``ChangeCoder``, it keeps the dictionaries of types, sources, devices and units from batch to batch,
/// because they hardly change within an export.
struct BatchCoder {
  /// The maximum number of entries in a dictionary. A larger one is reset with the next batch.
  private static let dictionaryLimit = 4096
  /// The maximum size of the dictionaries' texts, in bytes. A hostile file may have few but large texts.
  private static let dictionaryTexts = 8 << 20

  var types = ExactIndex<SampleType>()
  var kinds = ExactIndex<String>()
  var units = ExactIndex<String>()
  var sources = ExactIndex<Source>()
  var devices = ExactIndex<Device>()
  /// The metadata texts of this batch: those in `metadataIndices`, and those that a caller deduplicates itself.
  private var metadata: [String] = []
  private var metadataIndices: [String: UInt32] = [:]
  private var payloads: [OpenPayload] = []
  /// The approximate size of payloads and metadata, in bytes.
  private(set) var textBytes = 0
  var samples: [CodedSample] = []
  private var tombstones: [CodedTombstone] = []
  private var statements: [KeyStatement] = []
  /// The alternative identities of samples; see ``ImportBatch/sideFiles``.
  private var sideFiles: [UUID: SideFileIdentity] = [:]
  /// The generation of the dictionaries. Changes when the indices that were handed out are no longer valid.
  private(set) var generation = 0
  /// The number of this batch. Metadata indices are valid within one batch only.
  private(set) var batch = 0

  var count: Int { samples.count }
  /// The sample that was added last.
  var last: ImportReport.Last? {
    samples.last.map { ImportReport.Last(type: types.values[Int($0.type)], start: $0.start) }
  }

  /// Adds a sample.
  ///
  /// - Parameter statement: the statement that the sample belongs to, if its key has several records.
  /// - Throws: `EncodingError` for a sample that cannot be written as JSON.
  mutating func add(_ sample: Sample, statement: KeyStatement? = nil) throws {
    var (number, unit, json): (Double?, String?, UInt32?)
    if let columns = sample.payload.columns {
      json = append(payload: .columns(columns))
    } else {
      let payload = try CodedPayload(sample.payload)
      (number, unit, json) = (payload.number, payload.unit, payload.json.map { append(payload: .text($0)) })
    }
    samples.append(
      CodedSample(
        uuid: sample.uuid, start: sample.start, end: sample.end, created: sample.created,
        type: types.index(of: sample.type), kind: kinds.index(of: sample.payload.kind),
        source: sources.index(of: sample.source), device: sample.device.map { devices.index(of: $0) },
        metadata: sample.metadata.isEmpty ? nil : index(ofMetadata: MetadataText.encode(sample.metadata)),
        number: number, unit: unit.map { units.index(of: $0) }, payload: json, statement: statement.map { add($0) }))
  }

  private mutating func add(_ statement: KeyStatement) -> UInt32 {
    statements.append(statement)
    return UInt32(statements.count - 1)
  }

  mutating func add(_ tombstone: Tombstone) {
    let sample = tombstone.sample
    tombstones.append(
      CodedTombstone(
        type: types.index(of: sample.type), start: sample.start, uuid: sample.uuid, deleted: tombstone.deleted,
        end: tombstone.end, source: tombstone.source.map { sources.index(of: Source(name: $0)) },
        road: tombstone.road ?? .unknown, hint: tombstone.hint, statement: tombstone.statement.map { add($0) }))
  }

  /// Sets the alternative identity of a sample, the one without its side file or with it.
  mutating func add(_ other: SideFileIdentity, of uuid: UUID) { sideFiles[uuid] = other }

  mutating func takeSideFiles() -> [UUID: SideFileIdentity] {
    defer { sideFiles = [:] }
    return sideFiles
  }

  private mutating func index(ofMetadata text: String) -> UInt32 {
    // Strings that are equal by `==` may still have different bytes.
    if let known = metadataIndices[text], metadata[Int(known)].isExactly(text) { return known }
    let index = append(metadata: text)
    metadataIndices[text] = index
    return index
  }

  mutating func append(payload: OpenPayload) -> UInt32 {
    payloads.append(payload)
    textBytes += payload.size
    return UInt32(payloads.count - 1)
  }

  /// Adds a metadata text without looking for an equal one, and returns its index.
  ///
  /// - Parameter text: the text as ``MetadataText`` writes it.
  mutating func append(metadata text: String) -> UInt32 {
    metadata.append(text)
    textBytes += text.utf8.count
    return UInt32(metadata.count - 1)
  }

  /// Returns everything that was added since the last call. The payloads are separate and not encoded yet.
  mutating func take() -> (changes: CodedChanges, payloads: [OpenPayload]) {
    let changes = CodedChanges(
      types: types.values, kinds: kinds.values, units: units.values, sources: sources.values, devices: devices.values,
      metadata: metadata, statements: statements, samples: samples, tombstones: tombstones)
    let payloads = payloads
    let count = samples.count
    samples = []
    samples.reserveCapacity(count)
    self.payloads = []
    tombstones = []
    statements = []
    textBytes = 0
    metadata = []
    metadataIndices = [:]
    batch += 1
    let largest = max(
      types.values.count, kinds.values.count, units.values.count, sources.values.count, devices.values.count)
    if largest > Self.dictionaryLimit || dictionaryBytes > Self.dictionaryTexts {
      self = BatchCoder(generation: generation + 1, batch: batch)
    }
    return (changes, payloads)
  }

  /// The size of the texts in the dictionaries that are kept from batch to batch.
  private var dictionaryBytes: Int {
    let types = types.values.lazy.map(\.rawValue.utf8.count)
    let texts = (kinds.values + units.values).lazy.map(\.utf8.count)
    let sources = sources.values.lazy.map { source in
      [source.name, source.bundleIdentifier, source.version].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    }
    let devices = devices.values.lazy.map { device in
      [
        device.name, device.manufacturer, device.model, device.hardwareVersion, device.firmwareVersion,
        device.softwareVersion, device.localIdentifier, device.udiDeviceIdentifier, device.text,
      ].reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    }
    return types.reduce(0, +) + texts.reduce(0, +) + sources.reduce(0, +) + devices.reduce(0, +)
  }

  /// Returns everything that was added since the last call, with encoded payloads. Throws `EncodingError` for a
  /// payload that cannot be written as JSON.
  mutating func takeWhole() throws -> CodedChanges {
    var (changes, payloads) = take()
    changes.payloads = try payloads.map { try $0.json() }
    return changes
  }

  init() {}

  private init(generation: Int, batch: Int) {
    self.generation = generation
    self.batch = batch
  }
}
