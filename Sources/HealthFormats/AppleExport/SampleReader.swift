import HealthModel

/// The second pass over a file: makes samples of its elements.
struct SampleReader: ~Copyable {
  var scanner: XMLScanner
  var names = ElementNames()
  var stack = ElementStack()
  var keys = KeyReader()
  var texts = TextTables()
  var report = ImportReport()
  var typeCounts = RunLengthCounts()

  /// The hashes of keys that are not known to be unique.
  private let suspects: Set<UInt64>
  private let batchSize: Int
  private var batch = ImportBatch()
  private var held = HeldSamples()
  private(set) var hasDelivered = false

  /// The element that will become a sample when it closes, and the record in a correlation.
  var current: Draft?
  var member: Draft?
  var tree: [RawElement] = []
  var treeSize = 0

  init(source: any ByteSource, chunkSize: Int, batchSize: Int, suspects: Set<UInt64>) {
    scanner = XMLScanner(source: source, chunkSize: chunkSize)
    self.batchSize = max(1, batchSize)
    self.suspects = suspects
  }

  mutating func run(
    progressBase: Int64, progress: (Int64) throws -> Void, deliver: (ImportBatch) throws -> Void
  ) throws -> ImportReport? {
    var meter = ProgressMeter(base: progressBase)
    var version: Int?
    let hasRoot = try scanner.skipProlog { comment in
      if let found = Self.version(in: comment) { version = version ?? found }
    }
    guard hasRoot else { return nil }
    report.version = version
    while true {
      let token = try scanner.next()
      try meter.update(scanner.bytesRead, progress)
      switch token {
      case .open: try open()
      case .close: close()
      case .malformed: skip("malformed tag")
      case .text: skip("text between elements")
      case .end:
        finish()
        try send(to: deliver)
        return report
      }
      if batch.samples.count >= batchSize { try send(to: deliver) }
    }
  }

  /// The number in `HealthKit Export Version: 14`.
  private static func version(in comment: String) -> Int? {
    guard let label = comment.firstRange(of: "HealthKit Export Version:") else { return nil }
    return Int(comment[label.upperBound...].drop { $0 == " " }.prefix { $0.isASCII && $0.isNumber })
  }

  // MARK: Delivery

  mutating func isSuspect(_ draft: borrowing Draft) -> Bool {
    !suspects.isEmpty && suspects.contains(draft.hash)
  }

  /// Takes a finished sample, which gets its identity here.
  mutating func emit(_ sample: Sample, kind: ElementKind, isSuspect: Bool) {
    if isSuspect {
      held.add(sample, kind: kind)
    } else {
      batch.samples.append(sample)
      batch.samples[batch.samples.count - 1].identify(as: kind, ordinal: 0)
    }
  }

  mutating func emit(correlation: Sample, isSuspect: Bool, members: [(sample: Sample, isKnown: Bool)]) {
    batch.samples.append(contentsOf: members.lazy.filter(\.isKnown).map(\.sample))
    if isSuspect || !members.allSatisfy(\.isKnown) {
      held.add(correlation, members: members)
      return
    }
    var correlation = correlation
    correlation.payload = .correlation(Correlation(members: members.map(\.sample.reference)))
    emit(correlation, kind: .correlation, isSuspect: false)
  }

  mutating func emit(drifting sample: Sample) {
    var sample = sample
    sample.uuid = SampleIdentity.uuid(ofDrifting: sample)
    batch.drifting.append(sample)
  }

  private mutating func finish() {
    report.isComplete = stack.isEmpty && !scanner.endsInsideTag
    if !report.isComplete { report.end = scanner.tokenPosition }
    report.records = typeCounts.total
    report.utcOffset = report.utcOffset ?? keys.dates.offset.map { Int($0) }
    let (samples, equalKeys) = held.resolve()
    batch.samples.append(contentsOf: samples)
    report.equalKeys = equalKeys
  }

  private mutating func send(to deliver: (ImportBatch) throws -> Void) throws {
    if batch.samples.isEmpty, batch.drifting.isEmpty { return }
    hasDelivered = true
    if batch.samples.count <= batchSize {
      try deliver(batch)
    } else {
      for start in stride(from: 0, to: batch.samples.count, by: batchSize) {
        let slice = batch.samples[start..<min(start + batchSize, batch.samples.count)]
        try deliver(ImportBatch(samples: Array(slice), drifting: start == 0 ? batch.drifting : []))
      }
    }
    batch.samples.removeAll(keepingCapacity: true)
    batch.drifting.removeAll(keepingCapacity: true)
  }

  // MARK: Findings

  mutating func skip(_ reason: String) {
    report.skipped.add(reason) { scanner.tokenPosition.line }
  }

  mutating func remark(_ kind: String) {
    report.remarks.add(kind) { scanner.tokenPosition.line }
  }

  mutating func remark(_ defects: TextDefects) {
    if defects.isEmpty { return }
    if defects.contains(.invalidUTF8) { remark("invalid UTF-8") }
    if defects.contains(.controlCharacter) { remark("control character") }
    if defects.contains(.unknownEntity) { remark("unknown entity") }
  }
}

/// Counts by text, fast where the same text comes in runs.
struct RunLengthCounts {
  private var counts: [String: Int] = [:]
  private var last = ""
  private var run = 0

  mutating func add(_ text: String) {
    if text != last {
      flush()
      last = text
    }
    run += 1
  }

  private mutating func flush() {
    if run > 0 { counts[last, default: 0] += run }
    run = 0
  }

  var total: [String: Int] {
    var copy = self
    copy.flush()
    return copy.counts
  }
}
