import HealthModel

/// Collects the batches of a body and throws an error if they exceed a limit.
struct InboxCollector {
  private struct Place: Hashable {
    var type: SampleType
    var source: String
    var start: Int64
    var end: Int64
  }

  private let limits: InboxBody.Limits
  private(set) var batches: [SampleBatch] = []
  private var count = 0
  /// The names so far that a store would add to its dictionaries.
  private var names: Set<String> = []
  private var alike: [Place: Int] = [:]

  init(_ limits: InboxBody.Limits) { self.limits = limits }

  mutating func add(_ batch: SampleBatch) throws {
    count += batch.count
    guard count <= limits.samples else { throw InboxBodyError.tooManySamples(limit: limits.samples) }
    let new = batch.names
    guard new.allSatisfy({ $0.utf8.count <= limits.nameBytes }) else {
      throw InboxBodyError.nameTooLong(limit: limits.nameBytes)
    }
    names.formUnion(new)
    guard names.count <= limits.names else { throw InboxBodyError.tooManyNames(limit: limits.names) }
    let changes = batch.changes
    for sample in changes.samples {
      try note(
        Place(
          type: changes.types[Int(sample.type)], source: changes.sources[Int(sample.source)].name,
          start: sample.start.seconds, end: sample.end.seconds))
    }
    for sample in batch.readings {
      // Readings of one time are compared with each other, whatever their source and end.
      try note(Place(type: sample.type, source: "", start: sample.start.seconds, end: 0))
    }
    batches.append(batch)
  }

  private mutating func note(_ place: Place) throws {
    let number = alike[place, default: 0] + 1
    guard number <= limits.alike else { throw InboxBodyError.tooManyAlike(limit: limits.alike) }
    alike[place] = number
  }
}

extension SampleBatch {
  /// The names of the samples' sources, types, units and devices, which a store keeps in dictionaries. The names are
  /// escaped as ASCII, because a store compares bytes, while Swift treats two spellings of `é` as equal.
  var names: Set<String> {
    var (types, sources, units, devices): (Set<UInt32>, Set<UInt32>, Set<UInt32>, Set<UInt32>) = ([], [], [], [])
    for sample in changes.samples {
      types.insert(UInt32(sample.type))
      sources.insert(UInt32(sample.source))
      if let unit = sample.unit { units.insert(UInt32(unit)) }
      if let device = sample.device { devices.insert(UInt32(device)) }
    }
    var names = Set(types.map { Self.spelled("type \(changes.types[Int($0)].rawValue)") })
    names.formUnion(sources.map { Self.spelled("source \(Self.text(changes.sources[Int($0)]))") })
    names.formUnion(units.map { Self.spelled("unit \(changes.units[Int($0)])") })
    names.formUnion(devices.map { Self.spelled("device \(changes.devices[Int($0)])") })
    for sample in readings {
      names.insert(Self.spelled("type \(sample.type.rawValue)"))
      names.insert(Self.spelled("source \(Self.text(sample.source))"))
      if case .quantity(let quantity) = sample.payload { names.insert(Self.spelled("unit \(quantity.unit)")) }
    }
    return names
  }

  /// Returns a text with non-ASCII scalars written as `\u{e9}`.
  private static func spelled(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "\\") }) { return text }
    return text.unicodeScalars.reduce(into: "") { $0 += $1.escaped(asASCII: true) }
  }

  private static func text(_ source: Source) -> String {
    [source.name, source.bundleIdentifier ?? "", source.version ?? ""].joined(separator: "\u{1F}")
  }
}
