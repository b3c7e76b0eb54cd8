import HealthModel

/// The second pass over a file: turns its elements into samples. Each element is read by the handler of its kind.
struct SampleReader: ~Copyable {
  private var context: ReadingContext
  private var stack = ElementStack()
  private var plain = PlainRecordCoder()

  private var person: PersonHandler
  private var records = RecordHandler()
  private var correlations = CorrelationHandler()
  private var entities: TopLevelElementHandler
  private var unknown = UnknownHandler()

  init(
    source: any ByteSource, chunkSize: Int, batchSize: Int, survey: ExportSurvey,
    identityNames: [String: String] = [:], folder: any ExportFolder = EmptyFolder(), queue: BatchQueue<ReadBatch>
  ) {
    let identities = ExportIdentities(suspects: survey.suspects, sourceNames: identityNames)
    context = ReadingContext(
      scanner: XMLScanner(source: source, chunkSize: chunkSize),
      delivery: SampleDelivery(to: queue, batchSize: batchSize, identities: identities), sideFiles: SideFiles(folder),
      surveyedDate: survey.exportDate)
    person = PersonHandler(exportDate: survey.exportDate)
    entities = TopLevelElementHandler(routes: RouteHandler(claims: survey.routeClaims))
  }

  /// Reads the whole file.
  ///
  /// - Parameter progressBase: the number that reported progress starts from.
  /// - Returns: `nil` for a file without a root element.
  mutating func run(progressBase: Int64) throws -> ImportReport? {
    let queue = context.delivery.queue
    var meter = ProgressMeter(base: progressBase)
    var version: Int?
    let hasRoot = try context.scanner.skipProlog { comment in
      if let found = Self.version(in: comment) { version = version ?? found }
    }
    guard hasRoot else { return nil }
    context.report.version = version
    while true {
      if stack.role == .root {
        readPlainRecords()
        try context.delivery.sendIfDue()
      }
      let token = try context.scanner.next()
      try meter.update(context.scanner.bytesRead, queue.report)
      switch token {
      case .open: try open()
      case .close: try close()
      case .malformed: context.skip("malformed tag")
      case .text: context.skip("text between elements")
      case .end:
        let total = progressBase + context.scanner.bytesRead
        try finish { try queue.report(total) }
        return context.report
      }
      try context.delivery.sendIfDue()
    }
  }

  private mutating func readPlainRecords() {
    while !context.delivery.isDue,
      let end = plain.next(
        context.scanner, &context.keys.dates, &context.delivery.coder, context.delivery.identities)
    {
      context.scanner.position = end
    }
  }

  /// Returns the number in a comment such as `HealthKit Export Version: 14`.
  static func version(in comment: String) -> Int? {
    guard let label = comment.firstRange(of: "HealthKit Export Version:") else { return nil }
    return Int(comment[label.upperBound...].drop { $0 == " " }.prefix { $0.isASCII && $0.isNumber })
  }

  private mutating func finish(_ progress: () throws -> Void) throws {
    let isComplete = stack.isEmpty && !context.scanner.endsInsideTag
    context.report.isComplete = isComplete
    if !isComplete {
      (context.report.end, context.report.last) = (context.scanner.tokenPosition, context.delivery.last)
    }
    context.report.records = records.countsByType.merging(plain.records, uniquingKeysWith: +)
    context.report.utcOffset = context.report.utcOffset ?? context.keys.dates.offset.map { Int($0) }
    try ElectrocardiogramHandler.read(progress, &context)
    try TrackHandler.read(progress, &entities.routes.parts, &context)
    if isComplete { context.remarkUnread() }
    context.report.equalKeys = try context.delivery.finish()
  }

  // MARK: Elements

  private mutating func open() throws {
    let name = context.names.name(of: context.scanner.name)
    for _ in 0..<stack.unclosed(before: name) {
      context.remark("\(context.names.text(of: name)) before the end of another element")
      try finish(stack.pop())
    }
    let role = try begin(name)
    if context.scanner.valuelessAttributes > 0 { context.remark("attribute without a value") }
    if context.scanner.isSelfClosing {
      try finish(ElementStack.Frame(name: name, role: role))
      return
    }
    guard stack.frames.count < ElementStack.maximumDepth else {
      throw ImportError.tooLarge(what: "a nesting of elements", at: context.scanner.tokenPosition)
    }
    stack.push(name, role)
  }

  private mutating func close() throws {
    let count = stack.closed(by: context.names.name(of: context.scanner.name))
    if count == 0 { context.remark("closing tag without an opening one") }
    for index in 0..<count {
      if index < count - 1 { context.remark("element without a closing tag") }
      try finish(stack.pop())
    }
  }

  /// Reads the attributes of an element. Returns the role of the element, which is a lesser one if attributes are
  /// missing.
  private mutating func begin(_ name: ElementName) throws -> ElementStack.Role {
    if stack.role == .root { context.keptBytes = 0 }
    let role = stack.role(of: name)
    switch role {
    case .root:
      if stack.isEmpty { person.readRoot(&context) }
    case .record, .member: return records.begin(isMember: role == .member, &context)
    case .correlation: return correlations.begin(&context)
    case .summary: return try ActivitySummaryHandler.begin(&context) ?? entities.begin(kind(of: name), &context)
    case .entity: return entities.begin(kind(of: name), &context)
    case .branch, .point: return try entities.beginBranch(name, &context)
    case .beats: records.beats.beginList(&context)
    case .leaf: try readLeaf(name)
    case .captured: return unknown.begin(name, in: stack.frames.last?.name, &context)
    case .ignored where stack.isEmpty:
      context.skip("\(context.names.text(of: name)) after the end of HealthData")
    case .ignored: break
    }
    return role
  }

  private func kind(of name: ElementName) -> ElementKind {
    name == .workout ? .workout : .other(name: context.names.text(of: name), identifier: nil)
  }

  private mutating func readLeaf(_ name: ElementName) throws {
    switch name {
    case .exportDate: person.readExportDate(&context)
    case .me: person.readCharacteristics(&context)
    case .heartRateBeat: unknown.leafPlace = try records.beats.read(&context)
    default:
      if stack.role == .root {
        context.skip("MetadataEntry outside an element")
      } else {
        unknown.leafPlace = MetadataHandler.read(&context)
      }
    }
  }

  /// Finishes an element that is whole. Its frame has been removed from the stack, so that the last frame is its
  /// parent.
  private mutating func finish(_ frame: ElementStack.Frame) throws {
    defer { context.noticeLine = nil }
    switch frame.role {
    case .record: try records.finish(&context)
    case .member:
      if let member = try records.finishMember(&context) { try correlations.add(member, &context) }
    case .correlation: try correlations.finish(&context)
    case .summary: try ActivitySummaryHandler.finish(&context)
    case .entity: try entities.finish(&context)
    case .branch: entities.finishBranch()
    case .captured: unknown.finish(in: stack.frames.last, &person, &context)
    case .root, .beats, .leaf, .point, .ignored: break
    }
  }
}
