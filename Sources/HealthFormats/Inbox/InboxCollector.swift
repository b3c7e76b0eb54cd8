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
  private var alike: [Place: Int] = [:]

  init(_ limits: InboxBody.Limits) { self.limits = limits }

  mutating func add(_ batch: SampleBatch) throws {
    count += batch.count
    guard count <= limits.samples else { throw InboxBodyError.tooManySamples(limit: limits.samples) }
    let changes = batch.changes
    for sample in changes.samples {
      try note(
        Place(
          type: changes.types[Int(sample.type)], source: changes.sources[Int(sample.source)].name,
          start: sample.start.seconds, end: sample.end.seconds))
    }
    for sample in batch.drifting {
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
