import Foundation
import HealthModel

/// Puts samples into the coded form of one batch after the other.
///
/// Unlike a ``ChangeCoder`` it keeps the dictionaries of types, sources, devices and units from batch to batch: they
/// are the same few all over an export.
struct BatchCoder {
  /// Dictionaries that have grown beyond this are begun anew with the next batch.
  private static let dictionaryLimit = 4096
  /// In bytes: those of a hostile file may have few and large texts.
  private static let dictionaryTexts = 8 << 20

  var types = ExactIndex<SampleType>()
  var kinds = ExactIndex<String>()
  var units = ExactIndex<String>()
  var sources = ExactIndex<Source>()
  var devices = ExactIndex<Device>()
  /// Texts of this batch: those that were looked up, and those that somebody else keeps apart.
  private var metadata: [String] = []
  private var metadataIndices: [String: UInt32] = [:]
  private var payloads: [OpenPayload] = []
  /// Of payloads and metadata, about.
  private(set) var textBytes = 0
  var samples: [CodedSample] = []
  private var tombstones: [CodedTombstone] = []
  private var statements: [KeyStatement] = []
  /// See ``ImportBatch/sideFiles``.
  private var sideFiles: [UUID: SideFileIdentity] = [:]
  /// Changes when the indices that were given out are no longer valid.
  private(set) var generation = 0
  /// The number of this batch: indices of metadata are its own.
  private(set) var batch = 0

  var count: Int { samples.count }
  /// The sample that was added last.
  var last: ImportReport.Last? {
    samples.last.map { ImportReport.Last(type: types.values[Int($0.type)], start: $0.start) }
  }

  /// Throws `EncodingError` for a sample that cannot be written as JSON.
  ///
  /// - Parameter statement: what was said of its key, where that has several records.
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

  /// The sample with this identity has another, without its file or with it.
  mutating func add(_ other: SideFileIdentity, of uuid: UUID) { sideFiles[uuid] = other }

  mutating func takeSideFiles() -> [UUID: SideFileIdentity] {
    defer { sideFiles = [:] }
    return sideFiles
  }

  private mutating func index(ofMetadata text: String) -> UInt32 {
    // Equal for `==` may still be spelt in two ways.
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

  /// - Parameter text: as ``MetadataText`` writes it.
  mutating func append(metadata text: String) -> UInt32 {
    metadata.append(text)
    textBytes += text.utf8.count
    return UInt32(metadata.count - 1)
  }

  /// What has been added since the last time: all but the payloads, and these.
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

  /// Of the dictionaries that are kept from batch to batch.
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

  /// The same with the payloads. Throws `EncodingError` for one that cannot be written as JSON.
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
