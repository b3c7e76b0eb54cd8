import HealthModel

/// A batch of the samples in a file.
public struct SampleBatch: Sendable {
  /// The additions, and the deletions of a change feed. The dictionaries may hold values that no sample here uses.
  public var changes: CodedChanges
  /// The readings, each of which a newer reading of the same thing replaces; `created` is the age of a reading.
  public var readings: [Sample]

  /// Creates a batch, empty by default.
  public init(changes: CodedChanges = CodedChanges(), readings: [Sample] = []) {
    self.changes = changes
    self.readings = readings
  }

  /// The number of additions, deletions and readings.
  public var count: Int { changes.count + readings.count }

  /// The number of samples of each type, including readings.
  public var countsByType: [SampleType: Int] {
    var counts = changes.countsByType
    for sample in readings { counts[sample.type, default: 0] += 1 }
    return counts
  }
}

extension CodedChanges {
  /// The number of additions of each type.
  var countsByType: [SampleType: Int] {
    var counts = Array(repeating: 0, count: types.count)
    for sample in samples { counts[Int(sample.type)] += 1 }
    var result: [SampleType: Int] = [:]
    // Types with different spellings that are equal in Swift are counted together.
    for (type, count) in zip(types, counts) where count > 0 { result[type, default: 0] += count }
    return result
  }
}

/// Collects samples into batches and delivers each batch when it is full.
struct SampleCollector {
  private let size: Int
  private let deliver: (SampleBatch) throws -> Void
  /// The coder of all samples except readings. After adding a sample here, call ``added(_:)``.
  var coder = BatchCoder()
  private var readings: [Sample] = []
  private var count = 0
  /// The number of bytes of text from which the current batch was made.
  private var weight = 0
  var report = ImportReport()

  /// The maximum number of bytes of text for one batch, whatever the number of samples.
  private static let maximumWeight = 16 << 20

  init(size: Int, deliver: @escaping (SampleBatch) throws -> Void) {
    self.size = max(1, size)
    self.deliver = deliver
  }

  /// Adds a sample, or reports it as skipped if other machines would refuse it.
  ///
  /// - Parameter statement: the statement about the sample's key, if that key has several records.
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

  /// The number of bytes of text below which no sample can exceed a budget.
  static let worthWeighing = 2_048

  /// Returns ``worthWeighing``, or less for a payload of any JSON, which can be too deep with 129 pairs of brackets.
  private static func worthWeighing(_ payload: Payload) -> Int {
    payload.holdsAnyJSON ? 256 : worthWeighing
  }

  mutating func add(_ tombstone: Tombstone) throws {
    coder.add(tombstone)
    try added(0)
  }

  /// Counts a sample that was added to ``coder``, and delivers the batch if it is full.
  ///
  /// - Parameter bytes: the number of bytes of text that the sample was read from.
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

  /// Delivers the remaining samples and returns the report.
  mutating func finish() throws -> ImportReport {
    try flush()
    return report
  }
}
