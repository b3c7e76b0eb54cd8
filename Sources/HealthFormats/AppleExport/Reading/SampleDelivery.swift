import HealthModel

/// Has samples identified and sends them, in batches, to whoever takes them.
struct SampleDelivery: ~Copyable {
  /// Of one batch, in bytes: routes and lists of heart beats are large.
  private static let maximumTexts = 1 << 20
  /// A transaction of fewer samples costs more than it saves. One that is not in coded form weighs as much as twenty.
  private static let worthwhile = 5000

  let queue: BatchQueue<ReadBatch>
  private let batchSize: Int
  var identities: ExportIdentities
  var coder = BatchCoder()
  private var readings: [Sample] = []
  private var groups: [TwinGroup] = []
  private var heldCount = 0
  /// In the batches that have been sent.
  private var lastSent: ImportReport.Last?

  init(to queue: BatchQueue<ReadBatch>, batchSize: Int, identities: consuming ExportIdentities) {
    self.queue = queue
    self.batchSize = max(1, batchSize)
    self.identities = identities
  }

  /// The sample that was added last, of those that are not held back.
  var last: ImportReport.Last? { coder.last ?? lastSent }

  // MARK: Samples

  /// Takes a finished sample, which gets its identity here.
  ///
  /// - Parameter isShared: whether another may have the same key.
  /// - Returns: its reference; of one that is held, that of the first of its group.
  @discardableResult
  mutating func add(_ sample: Sample, as kind: ElementKind, isShared: Bool) throws -> SampleReference {
    if isShared { try identities.hold(sample, as: kind) }
    var sample = sample
    let other = identities.identify(&sample, as: kind)
    // Those that are held go out with their keys.
    guard !isShared else { return sample.reference }
    try coder.add(sample)
    if let other { coder.add(other, of: sample.uuid) }
    return sample.reference
  }

  @discardableResult
  mutating func add(_ draft: Draft) throws -> SampleReference {
    try add(draft.sample, as: draft.kind, isShared: identities.isShared(draft.hash))
  }

  mutating func add(correlation: Draft, members: [Draft]) throws {
    for sample in identities.identify(correlation, members: members) { try coder.add(sample) }
  }

  /// Takes a sample whose value changes from one export to the next.
  mutating func add(reading sample: Sample) {
    var sample = sample
    identities.identify(reading: &sample)
    readings.append(sample)
  }

  // MARK: Batches

  /// Between two elements.
  mutating func sendIfDue() throws {
    if isDue { try send() }
  }

  /// A batch is due when it is full, and also when somebody who takes batches has nothing to do.
  var isDue: Bool {
    let count = coder.count + 20 * (readings.count + heldCount)
    if count >= batchSize || coder.textBytes > Self.maximumTexts { return true }
    return (count >= Self.worthwhile || coder.textBytes > Self.maximumTexts / 2) && queue.isAwaited
  }

  /// Sends what is left, and the samples that have been held back.
  ///
  /// - Returns: how many samples share their key with another.
  mutating func finish() throws -> Int {
    let held = identities.takeHeld()
    let equalKeys = try held.resolve(
      group: { group in
        if coder.count + heldCount + group.samples.count > batchSize { try send() }
        groups.append(group)
        heldCount += group.samples.count
        try sendIfDue()
      },
      sample: { sample in
        try coder.add(sample)
        try sendIfDue()
      })
    try send()
    return equalKeys
  }

  private mutating func send() throws {
    if coder.count == 0, readings.isEmpty, groups.isEmpty { return }
    lastSent = coder.last ?? lastSent
    let sideFiles = coder.takeSideFiles()
    let (changes, payloads) = coder.take()
    let batch = ImportBatch(changes: changes, readings: readings, groups: groups, sideFiles: sideFiles)
    try queue.put(ReadBatch(batch, payloads: payloads))
    readings.removeAll()
    groups.removeAll()
    heldCount = 0
  }
}
