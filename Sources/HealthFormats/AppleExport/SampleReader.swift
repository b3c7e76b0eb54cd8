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
  private let suspects: HashSet64
  /// By the name of a source in the file, the name that identities use, where it is another.
  private let identityNames: [String: String]
  private let batchSize: Int
  /// What the survey has found, for what stands before it.
  let exportDate: Timestamp?
  private var coder = BatchCoder()
  private var plain: PlainRecordCoder
  private var drifting: [Sample] = []
  private var groups: [TwinGroup] = []
  private var heldCount = 0
  /// In the batches that have been sent.
  private var lastSent: ImportReport.Last?
  private var held = HeldSamples()

  /// The element that will become a sample when it closes, and the record in a correlation.
  var current: Draft?
  var member: Draft?
  var tree: [RawElement] = []
  var treeSize = 0
  /// Unknown elements that are open, in a record or correlation.
  var captured: [RawElement] = []
  var capturedCount = 0
  /// How many unknown elements of a name have been in an element that is about the person.
  var unknownOfPerson: [String: Int] = [:]
  /// Of the entry or beat that is open.
  var leafPlace: String?
  /// Of the unknown elements that the sample keeps.
  var keptBytes = 0
  /// Where the element began that is being made into something, where that is not the one that the scanner is at.
  var noticeLine: Int?
  let sideFiles: SideFiles
  /// Whose the files are that several routes name.
  let routeClaims: RouteClaims
  /// Those of the workout that is open.
  var routes: [RouteDraft] = []
  /// Points of routes that are held.
  var heldPoints = 0

  init(
    source: any ByteSource, chunkSize: Int, batchSize: Int, survey: ExportSurvey,
    identityNames: [String: String] = [:], folder: any ExportFolder = EmptyFolder()
  ) {
    scanner = XMLScanner(source: source, chunkSize: chunkSize)
    self.batchSize = max(1, batchSize)
    suspects = survey.suspects
    exportDate = survey.exportDate
    routeClaims = survey.routeClaims
    self.identityNames = identityNames
    plain = PlainRecordCoder(identityNames: identityNames)
    sideFiles = SideFiles(folder)
  }

  /// - Parameter progressBase: what the progress that is reported begins with.
  /// - Returns: `nil` for a file without a root.
  mutating func run(progressBase: Int64, into queue: BatchQueue<ReadBatch>) throws -> ImportReport? {
    var meter = ProgressMeter(base: progressBase)
    var version: Int?
    let hasRoot = try scanner.skipProlog { comment in
      if let found = Self.version(in: comment) { version = version ?? found }
    }
    guard hasRoot else { return nil }
    report.version = version
    while true {
      if stack.role == .root {
        while !isDue(queue), let end = plain.next(scanner, &keys.dates, &coder, suspects) {
          scanner.position = end
        }
        try sendIfDue(to: queue)
      }
      let token = try scanner.next()
      try meter.update(scanner.bytesRead, queue.report)
      switch token {
      case .open: try open()
      case .close: try close()
      case .malformed: skip("malformed tag")
      case .text: skip("text between elements")
      case .end:
        let total = progressBase + scanner.bytesRead
        try finish({ try queue.report(total) }, queue)
        return report
      }
      try sendIfDue(to: queue)
    }
  }

  /// The number in `HealthKit Export Version: 14`.
  static func version(in comment: String) -> Int? {
    guard let label = comment.firstRange(of: "HealthKit Export Version:") else { return nil }
    return Int(comment[label.upperBound...].drop { $0 == " " }.prefix { $0.isASCII && $0.isNumber })
  }

  // MARK: Delivery

  mutating func isSuspect(_ draft: borrowing Draft) -> Bool {
    !suspects.isEmpty && suspects.contains(draft.hash)
  }

  func identityName(of sample: Sample) -> String {
    identityNames.isEmpty ? sample.source.name : identityNames[sample.source.name] ?? sample.source.name
  }

  /// Takes a finished sample, which gets its identity here.
  ///
  /// - Returns: its reference; of one that is held, that of the first of its group.
  @discardableResult
  mutating func emit(_ sample: Sample, kind: ElementKind, isSuspect: Bool) throws -> SampleReference {
    let name = identityName(of: sample)
    if isSuspect { try held.add(sample, kind: kind, source: name) }
    var sample = sample
    sample.identify(as: kind, source: name, ordinal: 0)
    guard !isSuspect else { return sample.reference }
    try coder.add(sample)
    // Those that are held go out with their keys.
    let key = SampleKey(kind: kind.identity, sample: sample, source: name)
    if case .other = kind, let other = key.sideFileIdentity(sample.payload, ordinal: 0) {
      coder.add(other, of: sample.uuid)
    }
    return sample.reference
  }

  mutating func emit(
    correlation: Sample, isSuspect: Bool, members: [(sample: Sample, isKnown: Bool)]
  ) throws {
    for member in members where member.isKnown { try coder.add(member.sample) }
    if isSuspect || !members.allSatisfy(\.isKnown) {
      let names = identityNames
      held.add(correlation, members: members) { names[$0.source.name] ?? $0.source.name }
      return
    }
    var correlation = correlation
    correlation.payload = .correlation(Correlation(members: members.map(\.sample.reference)))
    try emit(correlation, kind: .correlation, isSuspect: false)
  }

  mutating func emit(drifting sample: Sample) {
    var sample = sample
    sample.uuid = SampleIdentity.uuid(ofDrifting: sample)
    drifting.append(sample)
  }

  private mutating func finish(_ progress: () throws -> Void, _ queue: BatchQueue<ReadBatch>) throws {
    report.isComplete = stack.isEmpty && !scanner.endsInsideTag
    if !report.isComplete { (report.end, report.last) = (scanner.tokenPosition, coder.last ?? lastSent) }
    report.records = typeCounts.total.merging(plain.records, uniquingKeysWith: +)
    report.utcOffset = report.utcOffset ?? keys.dates.offset.map { Int($0) }
    try readSideFiles(progress, into: queue)
    let held = self.held
    self.held = HeldSamples()
    report.equalKeys = try held.resolve(
      group: { group in
        if coder.count + heldCount + group.samples.count > batchSize { try send(to: queue) }
        groups.append(group)
        heldCount += group.samples.count
        try sendIfDue(to: queue)
      },
      sample: { sample in
        try coder.add(sample)
        try sendIfDue(to: queue)
      })
    try send(to: queue)
  }

  /// Between two elements.
  mutating func sendIfDue(to queue: BatchQueue<ReadBatch>) throws {
    if isDue(queue) { try send(to: queue) }
  }

  /// A batch is due when it is full, and also when somebody who takes batches has nothing to do.
  private func isDue(_ queue: BatchQueue<ReadBatch>) -> Bool {
    let count = coder.count + 20 * (drifting.count + heldCount)
    if count >= batchSize || coder.textBytes > Self.maximumTexts { return true }
    return (count >= Self.worthwhile || coder.textBytes > Self.maximumTexts / 2) && queue.isAwaited
  }

  /// Of one batch, in bytes: routes and lists of heart beats are large.
  private static let maximumTexts = 1 << 20
  /// A transaction of fewer samples costs more than it saves. One that is not in coded form weighs as much as twenty.
  private static let worthwhile = 5000

  private mutating func send(to queue: BatchQueue<ReadBatch>) throws {
    if coder.count == 0, drifting.isEmpty, groups.isEmpty { return }
    lastSent = coder.last ?? lastSent
    let sideFiles = coder.takeSideFiles()
    let (changes, payloads) = coder.take()
    let batch = ImportBatch(changes: changes, drifting: drifting, groups: groups, sideFiles: sideFiles)
    try queue.put(ReadBatch(batch, payloads: payloads))
    drifting.removeAll()
    groups.removeAll()
    heldCount = 0
  }

  // MARK: Findings

  /// What a finding is about.
  enum Place {
    /// The element that is being made into something, else the one that the scanner is at.
    case here
    case line(Int)
    /// A whole file, or nothing that has a line.
    case nowhere
  }

  mutating func skip(_ reason: String, _ place: Place = .here) {
    let noticeLine = noticeLine
    report.skipped.add(reason) { place.line(noticeLine ?? scanner.tokenPosition.line) }
  }

  mutating func remark(_ kind: String, _ place: Place = .here) {
    let noticeLine = noticeLine
    report.remarks.add(kind) { place.line(noticeLine ?? scanner.tokenPosition.line) }
  }

  mutating func remark(_ defects: TextDefects) {
    if defects.isEmpty { return }
    if defects.contains(.invalidUTF8) { remark("invalid UTF-8") }
    if defects.contains(.controlCharacter) { remark("control character") }
    if defects.contains(.unknownEntity) { remark("unknown entity") }
  }
}

extension SampleReader.Place {
  /// - Parameter here: what is not looked for unless it is wanted.
  fileprivate func line(_ here: @autoclosure () -> Int) -> Int? {
    switch self {
    case .here: here()
    case .line(let line): line
    case .nowhere: nil
    }
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
