import HealthModel

/// Keeps the batches of a body, and stops where they become too many.
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
  /// Everything so far that a store would keep in a dictionary of its own.
  private var names: Set<String> = []
  private var alike: [Place: Int] = [:]

  init(_ limits: InboxBody.Limits) { self.limits = limits }

  mutating func add(_ batch: SampleBatch) throws {
    count += batch.count
    guard count <= limits.samples else { throw InboxBodyError.tooManySamples(limit: limits.samples) }
    names.formUnion(batch.names)
    guard names.count <= limits.names else { throw InboxBodyError.tooManyNames(limit: limits.names) }
    let changes = batch.changes
    for sample in changes.samples {
      try note(
        Place(
          type: changes.types[Int(sample.type)], source: changes.sources[Int(sample.source)].name,
          start: sample.start.seconds, end: sample.end.seconds))
    }
    for sample in batch.readings {
      // Those of one time are looked through whatever their source and end.
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
  /// The names of sources, types, units and devices of its samples, which a store keeps in dictionaries.
  var names: Set<String> {
    var names: Set<String> = []
    for sample in changes.samples {
      names.insert("type \(changes.types[Int(sample.type)].rawValue)")
      names.insert("source \(Self.text(changes.sources[Int(sample.source)]))")
      if let unit = sample.unit { names.insert("unit \(changes.units[Int(unit)])") }
      if let device = sample.device { names.insert("device \(changes.devices[Int(device)])") }
    }
    for sample in readings {
      names.insert("type \(sample.type.rawValue)")
      names.insert("source \(Self.text(sample.source))")
      if case .quantity(let quantity) = sample.payload { names.insert("unit \(quantity.unit)") }
    }
    return names
  }

  private static func text(_ source: Source) -> String {
    [source.name, source.bundleIdentifier ?? "", source.version ?? ""].joined(separator: "\u{1F}")
  }
}
