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

  private mutating func role(of name: ElementName) throws -> ElementStack.Role {
    switch stack.role {
    case nil:
      guard name == .healthData else { return ignore("\(names.text(of: name)) after the end of HealthData") }
      readRoot()
      return .root
    case .root: return topLevelRole(of: name)
    case .record, .member:
      if name == .metadataEntry {
        readMetadataEntry()
        return .leaf
      }
      guard name == .heartRateList else { return capture(name) }
      readBeatList()
      return .beats
    case .beats:
      guard name == .heartRateBeat else { return capture(name) }
      try readBeat()
      return .leaf
    case .correlation:
      if name == .record { return beginRecord(isMember: true) }
      guard name == .metadataEntry else { return capture(name) }
      readMetadataEntry()
      return .leaf
    case .summary:
      guard name == .metadataEntry else { return capture(name) }
      readMetadataEntry()
      return .leaf
    case .entity, .branch: return try branchRole(of: name)
    case .leaf, .captured: return capture(name)
    case .ignored: return .ignored
    }
  }

  private mutating func topLevelRole(of name: ElementName) -> ElementStack.Role {
    keptBytes = 0
    switch name {
    case .record: return beginRecord(isMember: false)
    case .correlation: return beginCorrelation()
    case .workout: return beginEntity(.workout)
    case .activitySummary:
      return readActivitySummary() ?? beginEntity(.other(name: names.text(of: name), identifier: nil))
    case .exportDate:
      readExportDate()
      return .leaf
    case .me:
      readCharacteristics()
      return .leaf
    case .healthData: return .root
    case .metadataEntry:
      skip("MetadataEntry outside an element")
      return .leaf
    default: return beginEntity(.other(name: names.text(of: name), identifier: nil))
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
    switch frame.role {
    case .record: try finishRecord()
    case .member: finishMember()
    case .correlation: try finishCorrelation()
    case .summary: finishActivitySummary()
    case .entity: try finishEntity()
    case .branch: finishBranch()
    case .captured: finishCapture()
    case .root, .beats, .leaf, .ignored: break
    }
  }
}
