import HealthModel

/// Some of what a file of samples holds.
public struct SampleBatch: Sendable {
  public var samples: [Sample] = []
  /// Of a change feed.
  public var deletions: [Tombstone] = []
  /// Readings that a newer reading of the same thing replaces; `created` says how new each is.
  public var drifting: [Sample] = []

  public init() {}

  public var isEmpty: Bool { count == 0 }
  public var count: Int { samples.count + deletions.count + drifting.count }
}

/// Collects what a reader finds into batches.
struct SampleCollector {
  private let size: Int
  private let deliver: (SampleBatch) throws -> Void
  private var batch = SampleBatch()
  /// In bytes of the text that the batch was made of.
  private var weight = 0
  var report = ImportReport()
  private var counts = RunLengthCounts()

  /// One batch is not made of more text than this, whatever the number of samples.
  private static let maximumWeight = 32 << 20

  init(size: Int, deliver: @escaping (SampleBatch) throws -> Void) {
    self.size = max(1, size)
    self.deliver = deliver
  }

  mutating func add(_ sample: Sample, weight: Int = 0, isDrifting: Bool = false) throws {
    counts.add(sample.type.rawValue)
    if isDrifting { batch.drifting.append(sample) } else { batch.samples.append(sample) }
    try added(weight)
  }

  mutating func add(_ tombstone: Tombstone) throws {
    batch.deletions.append(tombstone)
    try added(0)
  }

  private mutating func added(_ bytes: Int) throws {
    weight += bytes
    if batch.count >= size || weight >= Self.maximumWeight { try flush() }
  }

  mutating func flush() throws {
    if batch.isEmpty { return }
    try deliver(batch)
    batch = SampleBatch()
    weight = 0
  }

  /// Delivers the rest.
  mutating func finish() throws -> ImportReport {
    try flush()
    report.records = counts.total
    return report
  }
}
