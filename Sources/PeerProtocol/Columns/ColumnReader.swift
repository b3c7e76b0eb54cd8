import Foundation
import HealthModel

/// A reader that turns the columns of one batch into ``CodedChanges`` and rejects inconsistent columns.
struct ColumnReader {
  private(set) var changes = CodedChanges()
  private let limits: ClientLimits

  init(_ limits: ClientLimits) {
    self.limits = limits
  }

  /// Reads the columns of samples. Returns false if they violate `changes.proto`.
  ///
  /// - Parameter texts: the column `json`. Each entry can be freed before the next is read.
  mutating func read(_ columns: Hpeer_V2_SampleColumns, _ texts: consuming [String]) -> Bool {
    let count = columns.type.count
    guard count > 0 else { return texts.isEmpty && columns == Hpeer_V2_SampleColumns() }
    guard let tick = Tick(length: columns.tick)?.length, columns.uuid.count == count * 16, columns.form.count == count,
      columns.road.count == count
    else { return false }
    for column in [columns.kind, columns.source, columns.device, columns.metadataSet, columns.unit] {
      guard column.count == count else { return false }
    }
    guard columns.start.count == count, columns.duration.count == count else { return false }
    guard readDictionaries(columns),
      let statements = StatementColumns.read(columns.stated, columns.statements, count: count)
    else { return false }

    let bounds = DictionaryBounds(changes)
    var contents = ContentReader(columns, consume texts, changes: changes, limits)
    var samples: [CodedSample] = []
    samples.reserveCapacity(count)
    // Every access to a message's field goes through its storage, so read each column once, not per row.
    let (types, kinds, sources, devices) = (columns.type, columns.kind, columns.source, columns.device)
    let (metadata, units, starts, durations) = (columns.metadataSet, columns.unit, columns.start, columns.duration)
    let roads = Array(columns.road)
    var ticks: Int64 = 0
    var created = columns.created.makeIterator()
    let isRead = columns.uuid.withUnsafeBytes { (uuids: UnsafeRawBufferPointer) -> Bool in
      columns.form.withUnsafeBytes { (forms: UnsafeRawBufferPointer) -> Bool in
        for row in 0..<count {
          // Newer versions may have other roads.
          let road = SampleRoad(rawValue: roads[row]) ?? .unknown
          ticks &+= starts[row]
          let start = ticks &* tick
          var sample = CodedSample(
            uuid: UUID(uuid: uuids.loadUnaligned(fromByteOffset: row * 16, as: uuid_t.self)),
            start: Timestamp(microseconds: start),
            end: Timestamp(microseconds: start &+ durations[row] &* tick), created: nil,
            type: types[row], kind: kinds[row], source: sources[row], device: reference(devices[row]),
            metadata: reference(metadata[row]), number: nil, unit: reference(units[row]), payload: nil, road: road)
          guard bounds.hold(sample) else { return false }
          if forms[row] & SampleForm.created != 0 {
            guard let ticks = created.next() else { return false }
            sample.created = Timestamp(microseconds: start &+ ticks &* tick)
          }
          guard contents.read(form: forms[row] & ~SampleForm.created, into: &sample) else { return false }
          samples.append(sample)
        }
        return true
      }
    }
    for (row, statement) in statements where row < samples.count {
      samples[row].statement = UInt32(changes.statements.count)
      changes.statements.append(statement)
    }
    changes.samples = samples
    changes.payloads = contents.payloads
    return isRead && created.next() == nil && contents.isAtEnd
  }

  /// Reads the columns of tombstones. Returns false if they violate `changes.proto`.
  mutating func read(_ columns: Hpeer_V2_TombstoneColumns) -> Bool {
    let count = columns.type.count
    guard count > 0 else { return columns == Hpeer_V2_TombstoneColumns() }
    guard let tick = Tick(length: columns.tick)?.length, columns.uuid.count == count * 16,
      columns.start.count == count, columns.deleted.count == count, columns.source.count == count,
      columns.duration.count == count, columns.road.count == count, columns.hint.count == count,
      let statements = StatementColumns.read(columns.stated, columns.statements, count: count)
    else { return false }
    let (firstType, firstSource) = (UInt32(changes.types.count), UInt32(changes.sources.count))
    changes.sources += columns.sources.map { Source(name: $0) }
    changes.types += columns.types.map { SampleType($0) }
    changes.tombstones.reserveCapacity(count)
    var instant: (start: Int64, deleted: Int64) = (0, 0)
    let (types, starts, deletions, typeCount) = (columns.type, columns.start, columns.deleted, columns.types.count)
    let (sources, durations, roads) = (columns.source, columns.duration, Array(columns.road))
    let hints = columns.hint
    let sourceCount = columns.sources.count
    let isRead = columns.uuid.withUnsafeBytes { (uuids: UnsafeRawBufferPointer) -> Bool in
      for row in 0..<count {
        guard types[row] < typeCount, sources[row] <= sourceCount, hints[row] <= 256 else { return false }
        let road = SampleRoad(rawValue: roads[row]) ?? .unknown
        instant = (instant.start &+ starts[row], instant.deleted &+ deletions[row])
        let (start, source) = (instant.start &* tick, reference(sources[row]))
        changes.tombstones.append(
          CodedTombstone(
            type: firstType + types[row], start: Timestamp(microseconds: start),
            uuid: UUID(uuid: uuids.loadUnaligned(fromByteOffset: row * 16, as: uuid_t.self)),
            deleted: Timestamp(microseconds: instant.deleted &* tick),
            end: source.map { _ in Timestamp(microseconds: start &+ durations[row] &* tick) },
            source: source.map { firstSource + $0 }, road: road, hint: reference(hints[row]).map { UInt8($0) }))
      }
      return true
    }
    guard isRead else { return false }
    for (row, statement) in statements {
      changes.tombstones[row].statement = UInt32(changes.statements.count)
      changes.statements.append(statement)
    }
    return true
  }

  private mutating func readDictionaries(_ columns: Hpeer_V2_SampleColumns) -> Bool {
    changes.types = columns.types.map { SampleType($0) }
    changes.kinds = columns.kinds
    changes.units = columns.units
    changes.sources = columns.sources.map(Source.init)
    changes.devices = columns.devices.map(Device.init)
    for text in columns.metadata {
      if MetadataText.isPlain(text) {
        changes.metadata.append(text)
      } else {
        guard limits.json.verdict(on: text) == .fits,
          let values = try? CanonicalJSON.decode(Metadata.self, text), !values.isEmpty
        else { return false }
        changes.metadata.append(MetadataText.encode(values))
      }
    }
    return true
  }

  /// The number of entries in each dictionary.
  private struct DictionaryBounds {
    private let types, kinds, sources, devices, metadata, units: Int

    init(_ changes: CodedChanges) {
      (types, kinds, sources) = (changes.types.count, changes.kinds.count, changes.sources.count)
      (devices, metadata, units) = (changes.devices.count, changes.metadata.count, changes.units.count)
    }

    /// Returns whether every dictionary reference of a sample is in range.
    func hold(_ sample: CodedSample) -> Bool {
      sample.type < types && sample.kind < kinds && sample.source < sources
        && sample.device.map { $0 < devices } ?? true
        && sample.metadata.map { $0 < metadata } ?? true && sample.unit.map { $0 < units } ?? true
    }
  }

  /// Returns the index stored as itself plus 1, or `nil` for 0.
  private func reference(_ number: UInt32) -> UInt32? {
    number == 0 ? nil : number - 1
  }
}

extension Source {
  init(_ source: Hpeer_V2_Source) {
    self.init(
      name: source.name, bundleIdentifier: source.hasBundleIdentifier ? source.bundleIdentifier : nil,
      version: source.hasVersion ? source.version : nil)
  }
}

extension Device {
  init(_ device: Hpeer_V2_Device) {
    self.init(
      name: device.hasName ? device.name : nil, manufacturer: device.hasManufacturer ? device.manufacturer : nil,
      model: device.hasModel ? device.model : nil,
      hardwareVersion: device.hasHardwareVersion ? device.hardwareVersion : nil,
      firmwareVersion: device.hasFirmwareVersion ? device.firmwareVersion : nil,
      softwareVersion: device.hasSoftwareVersion ? device.softwareVersion : nil,
      localIdentifier: device.hasLocalIdentifier ? device.localIdentifier : nil,
      udiDeviceIdentifier: device.hasUdiDeviceIdentifier ? device.udiDeviceIdentifier : nil,
      text: device.hasText ? device.text : nil)
  }
}
