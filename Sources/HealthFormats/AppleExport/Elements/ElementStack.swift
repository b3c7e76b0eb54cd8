/// The stack of open elements with their roles. Both passes over a file use it, so that they agree on which elements
/// a lost closing tag closes.
struct ElementStack {
  enum Role: UInt8 {
    /// The root element, `HealthData`.
    case root
    /// A `Record` at the top level or, as `member`, in a correlation.
    case record, member
    case correlation
    /// Any other top-level element that becomes a sample, and an element inside it.
    case entity, branch
    /// A route point that has been read. Elements inside it are branches of the route.
    case point
    /// An `ActivitySummary` with a readable date.
    case summary
    /// The list of heart beats in a record.
    case beats
    /// An element without known children: `ExportDate`, `Me`, `MetadataEntry`, ...
    case leaf
    /// An unknown element inside one that becomes a sample, with everything in it. Kept unchanged.
    case captured
    /// An element that has been counted as skipped, and everything in it.
    case ignored
  }

  struct Frame {
    var name: ElementName
    var role: Role
  }

  /// The maximum depth: far beyond any export, and below the limit of JSON decoders, which is 512.
  static let maximumDepth = 100

  private(set) var frames: [Frame] = []

  var role: Role? { frames.last?.role }
  var isEmpty: Bool { frames.isEmpty }
  /// The name of the open top-level element, the child of the root.
  var topLevelName: ElementName? { frames.count > 1 ? frames[1].name : nil }

  mutating func push(_ name: ElementName, _ role: Role) {
    frames.append(Frame(name: name, role: role))
  }

  mutating func pop() -> Frame { frames.removeLast() }

  /// Returns the role of an element that opens now, provided that its attributes can be read.
  func role(of name: ElementName) -> Role {
    switch role {
    case nil: name == .healthData ? .root : .ignored
    case .root: Self.topLevelRole(of: name)
    case .record, .member: name == .metadataEntry ? .leaf : name == .heartRateList ? .beats : .captured
    case .beats: name == .heartRateBeat ? .leaf : .captured
    case .correlation: name == .record ? .member : name == .metadataEntry ? .leaf : .captured
    case .summary: name == .metadataEntry ? .leaf : .captured
    case .entity, .branch, .point: .branch
    case .leaf, .captured: .captured
    case .ignored: .ignored
    }
  }

  private static func topLevelRole(of name: ElementName) -> Role {
    switch name {
    case .healthData: .root
    case .record: .record
    case .correlation: .correlation
    case .activitySummary: .summary
    case .exportDate, .me, .metadataEntry: .leaf
    default: .entity
    }
  }

  /// Returns the number of open elements whose closing tags must be missing if `name` opens here.
  func unclosed(before name: ElementName) -> Int {
    guard let role, role != .root else { return 0 }
    if name == .record {
      if role == .correlation { return 0 }
      // A record directly inside a record means that the outer one was not closed.
      if frames.last?.name == .record, role != .branch { return 1 }
      let holders: Set<Role> = [.correlation, .root, .ignored, .captured]
      guard let index = frames.lastIndex(where: { holders.contains($0.role) }) else { return 0 }
      let isInside = frames[index].role == .ignored || frames[index].role == .captured
      return isInside ? 0 : frames.count - 1 - index
    }
    guard name.isTopLevel, let root = frames.firstIndex(where: { $0.role == .root }) else { return 0 }
    return frames.count - 1 - root
  }

  /// Returns the number of elements that the closing tag `name` closes, or 0 if it has no opening tag.
  func closed(by name: ElementName) -> Int {
    if frames.last?.name == name { return 1 }
    guard let index = frames.lastIndex(where: { $0.name == name }) else { return 0 }
    return frames.count - index
  }
}
