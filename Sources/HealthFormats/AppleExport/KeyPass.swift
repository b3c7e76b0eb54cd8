/// The first pass over a file: which keys occur more than once?
struct KeyPass: ~Copyable {
  private var scanner: XMLScanner
  private var names = ElementNames()
  private var stack = ElementStack()
  private var keys = KeyReader()
  private var filter: KeyFilter

  init(source: any ByteSource, chunkSize: Int, totalBytes: Int64) {
    scanner = XMLScanner(source: source, chunkSize: chunkSize)
    filter = KeyFilter(totalBytes: totalBytes)
  }

  /// - Returns: the hashes of keys that may occur more than once; `nil` when the file has no `HealthData`.
  consuming func run(progress: (Int64) throws -> Void) throws -> Set<UInt64>? {
    var meter = ProgressMeter(base: 0)
    guard try scanner.skipProlog(comment: { _ in }) else { return nil }
    while true {
      let token = try scanner.next()
      try meter.update(scanner.bytesRead, progress)
      switch token {
      case .open: open()
      case .close:
        for _ in 0..<stack.closed(by: names.name(of: scanner.name)) { _ = stack.pop() }
      case .malformed, .text: continue
      case .end: return filter.suspects
      }
    }
  }

  private mutating func open() {
    let name = names.name(of: scanner.name)
    for _ in 0..<stack.unclosed(before: name) { _ = stack.pop() }
    let role: ElementStack.Role
    switch stack.role {
    case .root where name == .healthData, nil where name == .healthData: role = .root
    case .root where name == .record:
      note(.record, isNested: false)
      role = .record
    case .root where name == .correlation:
      note(.correlation, isNested: false)
      role = .correlation
    case .root where name == .workout:
      note(.workout, isNested: false)
      role = .entity
    case .root where name == .exportDate || name == .me || name == .activitySummary || name == .metadataEntry:
      role = .leaf
    case .root:
      note(.other(name: names.text(of: name), identifier: nil), isNested: false)
      role = .entity
    case .correlation where name == .record:
      note(.record, isNested: true)
      role = .member
    default: role = .ignored
    }
    if !scanner.isSelfClosing, stack.frames.count < ElementStack.maximumDepth { stack.push(name, role) }
  }

  /// Members of correlations repeat a top-level record on purpose: they are compared with each other only.
  private mutating func note(_ kind: ElementKind, isNested: Bool) {
    guard let key = try? keys.key(kind, CommonAttributes(scanner), in: scanner) else { return }
    filter.insert(isNested ? ~key.hash : key.hash, suspect: key.hash)
  }
}
