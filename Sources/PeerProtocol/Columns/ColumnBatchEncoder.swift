import Foundation
import HealthModel
import SwiftProtobuf
import ZstandardFrames

/// An encoder of change feed batches in columns, each preceded by its length; see `changes.proto`.
public enum ColumnBatchEncoder {
  private static let limits = ClientLimits()

  /// Returns a batch as one frame: its length as four big-endian bytes, then a Zstandard frame (RFC 8878) of that
  /// length.
  ///
  /// - Throws: a SwiftProtobuf error for a message of 2 GiB or more, or a compressor error if memory runs out.
  public static func encode(_ batch: ChangeFeedBatch) throws -> [UInt8] {
    var message = Hpeer_V2_ChangeBatch()
    if !batch.changes.samples.isEmpty { message.samples = Hpeer_V2_SampleColumns(batch.changes) }
    if !batch.changes.tombstones.isEmpty { message.tombstones = Hpeer_V2_TombstoneColumns(batch.changes) }
    message.token = batch.token
    message.more = batch.more
    return try framed(message)
  }

  /// Encodes an error that ends the feed, as a sentence for a person.
  public static func encode(error: String) throws -> [UInt8] {
    var message = Hpeer_V2_ChangeBatch()
    message.error = error
    return try framed(message)
  }

  private static func framed(_ message: Hpeer_V2_ChangeBatch) throws -> [UInt8] {
    let content: [UInt8] = try message.serializedBytes()
    var frame = try Zstandard.compress(content)
    // Readers take a higher compression ratio for an attack, but a sample may legitimately repeat the same content.
    if content.count > max(limits.freelyExpandedBytes, frame.count * limits.expansion) {
      frame = Zstandard.store(content)
    }
    return withUnsafeBytes(of: UInt32(frame.count).bigEndian) { Array($0) } + frame
  }
}

extension Hpeer_V2_SampleColumns {
  init(_ changes: CodedChanges) {
    self.init()
    types = changes.types.map(\.rawValue)
    kinds = changes.kinds
    units = changes.units
    sources = changes.sources.map(Hpeer_V2_Source.init)
    devices = changes.devices.map(Hpeer_V2_Device.init)
    metadata = changes.metadata
    var tick = Tick()
    for sample in changes.samples {
      tick.divide(sample.start.microseconds)
      tick.divide(sample.end.microseconds &- sample.start.microseconds)
      if let created = sample.created { tick.divide(created.microseconds &- sample.start.microseconds) }
    }
    self.tick = UInt32(tick.length)
    var columns = SampleColumnWriter(tick: tick.length, reserving: changes.samples.count)
    for sample in changes.samples { columns.add(sample, of: changes) }
    columns.move(into: &self)
  }
}

extension Hpeer_V2_TombstoneColumns {
  init(_ changes: CodedChanges) {
    self.init()
    types = changes.types.map(\.rawValue)
    var tick = Tick()
    for tombstone in changes.tombstones {
      tick.divide(tombstone.start.microseconds)
      tick.divide(tombstone.deleted.microseconds)
      if let duration = tombstone.duration { tick.divide(duration) }
    }
    self.tick = UInt32(tick.length)
    var uuids: [UInt8] = []
    var starts: [Int64] = []
    var deletions: [Int64] = []
    var names = ExactIndex<String>()
    var sources: [UInt32] = []
    var durations: [Int64] = []
    var roads: [UInt8] = []
    var hints: [UInt32] = []
    var statements = StatementColumns()
    var previous: (start: Int64, deleted: Int64) = (0, 0)
    for tombstone in changes.tombstones {
      statements.add(tombstone.statement.map { changes.statements[Int($0)] }, at: hints.count)
      withUnsafeBytes(of: tombstone.uuid.uuid) { uuids.append(contentsOf: $0) }
      let next = (
        start: tombstone.start.microseconds / tick.length, deleted: tombstone.deleted.microseconds / tick.length
      )
      starts.append(next.start &- previous.start)
      deletions.append(next.deleted &- previous.deleted)
      previous = next
      let duration = tombstone.duration
      durations.append((duration ?? 0) / tick.length)
      let name = duration == nil ? nil : tombstone.source.map { changes.sources[Int($0)].name }
      sources.append(name.map { names.index(of: $0) + 1 } ?? 0)
      roads.append(tombstone.road.rawValue)
      hints.append(tombstone.hint.map { UInt32($0) + 1 } ?? 0)
    }
    self.sources = names.values
    source = sources
    duration = durations
    road = Data(roads)
    hint = hints
    stated = statements.stated
    self.statements = Data(statements.bytes)
    uuid = Data(uuids)
    type = changes.tombstones.map(\.type)
    start = starts
    deleted = deletions
  }
}

extension CodedTombstone {
  /// The time from start to end in microseconds, or `nil` unless both end and source are known.
  fileprivate var duration: Int64? {
    source == nil ? nil : end.map { $0.microseconds &- start.microseconds }
  }
}

extension Hpeer_V2_Source {
  init(_ source: Source) {
    self.init()
    name = source.name
    if let identifier = source.bundleIdentifier { bundleIdentifier = identifier }
    if let version = source.version { self.version = version }
  }
}

extension Hpeer_V2_Device {
  init(_ device: Device) {
    self.init()
    if let value = device.name { name = value }
    if let value = device.manufacturer { manufacturer = value }
    if let value = device.model { model = value }
    if let value = device.hardwareVersion { hardwareVersion = value }
    if let value = device.firmwareVersion { firmwareVersion = value }
    if let value = device.softwareVersion { softwareVersion = value }
    if let value = device.localIdentifier { localIdentifier = value }
    if let value = device.udiDeviceIdentifier { udiDeviceIdentifier = value }
    if let value = device.text { text = value }
  }
}
