import HealthModel

/// The first pass over a file, which finds its contents and the keys that may occur more than once.
struct SurveyPass: ~Copyable {
  private var scanner: XMLScanner
  private var names = ElementNames()
  private var stack = ElementStack()
  private var keys = KeyReader()
  private var filter: KeyFilter
  private var survey = ExportSurvey()
  private var sampling = SourceSampling()
  private var plain = PlainSurveyor()
  private var claims = RouteClaims()
  /// The interval of the open workout, and of the open route in it.
  private var workout: RouteClaims.Interval?
  private var route: RouteClaims.Interval?

  init(source: any ByteSource, chunkSize: Int, totalBytes: Int64) {
    scanner = XMLScanner(source: source, chunkSize: chunkSize)
    filter = KeyFilter(totalBytes: totalBytes)
  }

  /// Surveys the whole file.
  ///
  /// - Returns: `nil` if the file has no `HealthData` element.
  consuming func run(progress: (Int64) throws -> Void) throws -> ExportSurvey? {
    var meter = ProgressMeter(base: 0)
    var version: Int?
    let hasRoot = try scanner.skipProlog { comment in
      if let found = SampleReader.version(in: comment) { version = version ?? found }
    }
    guard hasRoot else { return nil }
    survey.version = version
    while true {
      if stack.role == .root {
        while let end = plain.next(scanner, &keys.dates, &filter, &sampling) { scanner.position = end }
      }
      let token = try scanner.next()
      try meter.update(scanner.bytesRead, progress)
      switch token {
      case .open: open()
      case .close:
        for _ in 0..<stack.closed(by: names.name(of: scanner.name)) { _ = stack.pop() }
      case .malformed, .text: continue
      case .end: return finish()
      }
    }
  }

  private mutating func finish() -> ExportSurvey {
    survey.isComplete = stack.isEmpty && !scanner.endsInsideTag
    if !survey.isComplete { survey.end = scanner.tokenPosition }
    survey.xmlBytes = scanner.bytesRead
    survey.records = plain.records
    survey.utcOffset = survey.utcOffset ?? keys.dates.offset.map { Int($0) }
    filter.flush()
    survey.suspects = filter.suspects
    survey.sources = sampling.records(suspects: filter.suspects)
    survey.routeClaims = claims.contested
    return survey
  }

  private mutating func open() {
    let name = names.name(of: scanner.name)
    for _ in 0..<stack.unclosed(before: name) { _ = stack.pop() }
    let role = role(of: name)
    if !scanner.isSelfClosing, stack.frames.count < ElementStack.maximumDepth { stack.push(name, role) }
  }

  private mutating func role(of name: ElementName) -> ElementStack.Role {
    let role = stack.role(of: name)
    if stack.role == .root, role != .root, role != .record { survey.elements[names.text(of: name), default: 0] += 1 }
    switch role {
    case .root:
      survey.locale = survey.locale ?? scanner.text(of: "locale")
      return role
    case .record, .member: return note(.record, isNested: role == .member) != nil ? role : .ignored
    case .correlation: return note(.correlation, isNested: false) != nil ? role : .ignored
    case .summary:
      let isRead = scanner.text(of: "dateComponents").flatMap { ActivitySummaryHandler.day($0) } != nil
      return isRead ? role : entityRole(of: name)
    case .entity: return entityRole(of: name)
    case .branch:
      if name == .workoutRoute, stack.role == .entity {
        // The reader does the same: attributes that a route lacks are taken from its workout.
        let own = note(.workoutRoute, isNested: false)
        route = workout.map { own ?? $0 }
      }
      if name == .fileReference, stack.frames.last?.name == .workoutRoute, let route,
        let path = scanner.text(of: "path")
      {
        claims.add(path, route)
      }
      return role
    case .leaf:
      if name == .exportDate { readExportDate() }
      if name == .me { readCharacteristics() }
      return role
    case .beats, .point, .captured, .ignored: return role
    }
  }

  private mutating func entityRole(of name: ElementName) -> ElementStack.Role {
    (workout, route) = (nil, nil)
    if name == .workout {
      workout = note(.workout, isNested: false)
      return workout != nil ? .entity : .ignored
    }
    // An element without a date is kept as a sample too, but it has no key.
    note(.other(name: names.text(of: name), identifier: nil), isNested: false)
    return .entity
  }

  private mutating func readExportDate() {
    guard let date = scanner.text(of: "value").flatMap({ keys.date($0) }) else { return }
    survey.exportDate = date
    survey.utcOffset = keys.dates.offset.map { Int($0) }
  }

  private mutating func readCharacteristics() {
    for index in 0..<scanner.attributeCount {
      let attribute = scanner.attribute(index)
      let value = XMLText.decode(attribute.value)
      if !value.isEmpty { survey.characteristics[XMLText.decode(attribute.name)] = value }
    }
  }

  /// Adds the key of the current element to the survey.
  ///
  /// - Returns: the interval of the element, or `nil` for an element without a key, which the reader makes no sample
  ///   of.
  @discardableResult
  private mutating func note(_ kind: ElementKind, isNested: Bool) -> RouteClaims.Interval? {
    let attributes = CommonAttributes(scanner)
    guard let key = try? keys.key(kind, attributes, in: scanner) else { return nil }
    let interval = RouteClaims.Interval(start: key.start, end: key.end)
    if isNested {
      filter.insert(member: key.hash)
      return interval
    }
    filter.insert(key.hash)
    if kind == .record { plain.count(key.type.text) }
    guard let number = sampling.number(of: key.source.text), sampling.wantsNext(of: number) else { return interval }
    sampling.keep(
      SampleKey(
        kind: key.kind.identity, type: SampleType(key.type.text), source: "", start: key.start.seconds,
        end: key.end.seconds, created: key.created?.seconds),
      hash: key.hash,
      value: kind == .record
        ? SourceSampling.value(attributes.value, unit: attributes.unit, type: key.type.text) : nil,
      of: number)
    return interval
  }
}
