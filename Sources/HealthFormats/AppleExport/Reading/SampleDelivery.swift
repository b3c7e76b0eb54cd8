import HealthModel

/// The last step of reading, which assigns identities to samples and sends them to the consumer in batches.
struct SampleDelivery: ~Copyable {
  /// The maximum size of the texts in a batch, in bytes. Routes and lists of heart beats are large.
  private static let maximumTexts = 1 << 20
  /// The minimum number of samples worth a transaction. A sample that is not coded yet counts as twenty.
  private static let worthwhile = 5000

  let queue: BatchQueue<ReadBatch>
  private let batchSize: Int
  var identities: ExportIdentities
  var coder = BatchCoder()
  private var readings: [Sample] = []
  private var groups: [TwinGroup] = []
  private var heldCount = 0
  /// The last sample in the batches that have been sent.
  private var lastSent: ImportReport.Last?

  init(to queue: BatchQueue<ReadBatch>, batchSize: Int, identities: consuming ExportIdentities) {
    self.queue = queue
    self.batchSize = max(1, batchSize)
    self.identities = identities
  }

  /// The last sample that was added and not held back.
  var last: ImportReport.Last? { coder.last ?? lastSent }

  // MARK: Samples

  /// Takes a finished sample and assigns its identity.
  ///
  /// - Parameter isShared: whether another sample may have the same key.
  /// - Returns: the reference of the sample. For a sample that is held back, the reference of the first of its group.
  @discardableResult
  mutating func add(_ sample: Sample, as kind: ElementKind, isShared: Bool) throws -> SampleReference {
    if isShared { try identities.hold(sample, as: kind) }
    var sample = sample
    let other = identities.identify(&sample, as: kind)
    // Samples that are held back are sent later, with their keys.
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

  /// Sends the batch if it is due. Call this between two elements.
  mutating func sendIfDue() throws {
    if isDue { try send() }
  }

  /// Whether the batch should be sent: it is full, or the consumer is idle and the batch is large enough to be
  /// worthwhile.
  var isDue: Bool {
    let count = coder.count + 20 * (readings.count + heldCount)
    if count >= batchSize || coder.textBytes > Self.maximumTexts { return true }
    return (count >= Self.worthwhile || coder.textBytes > Self.maximumTexts / 2) && queue.isAwaited
  }

  /// Sends the rest, and the samples that have been held back.
  ///
  /// - Returns: the number of samples that share their key with another.
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
