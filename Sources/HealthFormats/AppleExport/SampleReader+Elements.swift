import HealthModel

/// Which element goes where.
extension SampleReader {
  mutating func open() throws {
    let name = names.name(of: scanner.name)
    for _ in 0..<stack.unclosed(before: name) {
      remark("\(names.text(of: name)) before the end of another element")
      try finish(stack.pop())
    }
    let role = try role(of: name)
    if scanner.valuelessAttributes > 0 { remark("attribute without a value") }
    if scanner.isSelfClosing {
      try finish(ElementStack.Frame(name: name, role: role))
      return
    }
    guard stack.frames.count < ElementStack.maximumDepth else {
      throw ImportError.tooLarge(what: "a nesting of elements", at: scanner.tokenPosition)
    }
    stack.push(name, role)
  }

  mutating func close() throws {
    let count = stack.closed(by: names.name(of: scanner.name))
    if count == 0 { remark("closing tag without an opening one") }
    for index in 0..<count {
      if index < count - 1 { remark("element without a closing tag") }
      try finish(stack.pop())
    }
  }

  /// Takes what the element's attributes say; less becomes of one that they do not suffice for.
  private mutating func role(of name: ElementName) throws -> ElementStack.Role {
    if stack.role == .root { keptBytes = 0 }
    let role = stack.role(of: name)
    switch role {
    case .root:
      if stack.isEmpty { readRoot() }
    case .record, .member: return beginRecord(isMember: role == .member)
    case .correlation: return beginCorrelation()
    case .summary: return readActivitySummary() ?? beginEntity(.other(name: names.text(of: name), identifier: nil))
    case .entity:
      return beginEntity(name == .workout ? .workout : .other(name: names.text(of: name), identifier: nil))
    case .branch, .point: return try branchRole(of: name)
    case .beats: readBeatList()
    case .leaf: try readLeaf(name)
    case .captured: return capture(name)
    case .ignored where stack.isEmpty: skip("\(names.text(of: name)) after the end of HealthData")
    case .ignored: break
    }
    return role
  }

  private mutating func readLeaf(_ name: ElementName) throws {
    switch name {
    case .exportDate: readExportDate()
    case .me: readCharacteristics()
    case .heartRateBeat: try readBeat()
    default:
      if stack.role == .root { skip("MetadataEntry outside an element") } else { readMetadataEntry() }
    }
  }

  /// Counts an element that is not understood where it is.
  mutating func ignore(_ name: ElementName) -> ElementStack.Role {
    ignore("\(stack.frames.last.map { names.text(of: $0.name) } ?? "")/\(names.text(of: name)) is unknown")
  }

  mutating func ignore(_ reason: String) -> ElementStack.Role {
    skip(reason)
    return .ignored
  }

  /// An element is whole: makes of it what it is to become.
  private mutating func finish(_ frame: ElementStack.Frame) throws {
    defer { noticeLine = nil }
    switch frame.role {
    case .record: try finishRecord()
    case .member: finishMember()
    case .correlation: try finishCorrelation()
    case .summary: finishActivitySummary()
    case .entity: try finishEntity()
    case .branch: finishBranch()
    case .captured: finishCapture()
    case .root, .beats, .leaf, .point, .ignored: break
    }
  }
}
