import HealthModel

/// Some of what a file of samples holds.
public struct SampleBatch: Sendable {
  /// Additions, and the deletions of a change feed. The dictionaries may hold values that no sample of this batch has.
  public var changes: CodedChanges
  /// Readings that a newer reading of the same thing replaces; `created` says how new each is.
  public var readings: [Sample]

  /// Without arguments, an empty batch.
  public init(changes: CodedChanges = CodedChanges(), readings: [Sample] = []) {
    self.changes = changes
    self.readings = readings
  }

  /// Additions, deletions and readings together.
  public var count: Int { changes.count + readings.count }

  /// Samples by type, the readings among them.
  public var countsByType: [SampleType: Int] {
    var counts = changes.countsByType
    for sample in readings { counts[sample.type, default: 0] += 1 }
    return counts
  }
}

extension CodedChanges {
  /// Additions by type.
  var countsByType: [SampleType: Int] {
    var counts = Array(repeating: 0, count: types.count)
    for sample in samples { counts[Int(sample.type)] += 1 }
    var result: [SampleType: Int] = [:]
    // Of two spellings that are equal to Swift, each is one of the types.
    for (type, count) in zip(types, counts) where count > 0 { result[type, default: 0] += count }
    return result
  }
}

/// Collects what a reader finds into batches.
struct SampleCollector {
  private let size: Int
  private let deliver: (SampleBatch) throws -> Void
  /// The coder of all samples but readings; call ``added(_:)`` after each.
  var coder = BatchCoder()
  private var readings: [Sample] = []
  private var count = 0
  /// Bytes of text that the current batch was made of.
  private var weight = 0
  var report = ImportReport()

  /// Maximum bytes of text that one batch is made of, whatever the number of samples.
  private static let maximumWeight = 16 << 20

  init(size: Int, deliver: @escaping (SampleBatch) throws -> Void) {
    self.size = max(1, size)
    self.deliver = deliver
  }

  /// - Parameter statement: what was said of its key, where that has several records.
  mutating func add(
    _ sample: Sample, statement: KeyStatement? = nil, weight: Int = 0, isReading: Bool = false,
    line: () -> Int? = { nil }
  ) throws {
    guard try weight < Self.worthWeighing(sample.payload) || sample.isWithinBudget(weight: weight) else {
      return report.skipped.add("\(sample.type.rawValue): \(Sample.tooLarge)", line: line)
    }
    if isReading { readings.append(sample) } else { try coder.add(sample, statement: statement) }
    try added(weight)
  }

  /// Length in bytes below which no text can exceed a budget.
  static let worthWeighing = 2_048

  /// The same for a payload: one that may be any JSON is too deep with 129 brackets and their closing ones.
  private static func worthWeighing(_ payload: Payload) -> Int {
    payload.holdsAnyJSON ? 256 : worthWeighing
  }

  mutating func add(_ tombstone: Tombstone) throws {
    coder.add(tombstone)
    try added(0)
  }

  /// Counts a sample that was put into ``coder``, made of so many bytes of text.
  mutating func added(_ bytes: Int) throws {
    count += 1
    weight += bytes
    if count >= size || weight >= Self.maximumWeight { try flush() }
  }

  private mutating func flush() throws {
    if count == 0 { return }
    let batch = SampleBatch(changes: try coder.takeWhole(), readings: readings)
    for (type, count) in batch.countsByType { report.records[type.rawValue, default: 0] += count }
    readings = []
    (count, weight) = (0, 0)
    try deliver(batch)
  }

  /// Delivers what has been collected since the last batch, and returns the report.
  mutating func finish() throws -> ImportReport {
    try flush()
    return report
  }
}
