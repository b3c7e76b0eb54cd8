/// The open elements, and what each of them is. Both passes over a file use it: what a lost closing tag closes must not
/// be one thing to one and another to the other.
struct ElementStack {
  enum Role: UInt8 {
    /// `HealthData`.
    case root
    /// A `Record` at the top level or, as `member`, in a correlation.
    case record, member
    case correlation
    /// Any other top-level element that becomes a sample, and the elements in it.
    case entity, branch
    /// A point of a route that has been read; elements in it are branches of the route.
    case point
    /// An `ActivitySummary` that says its day.
    case summary
    /// The list of heart beats in a record.
    case beats
    /// An element whose attributes are all: `ExportDate`, `Me`, `MetadataEntry`, ...
    case leaf
    /// An unknown element in one that becomes a sample, and all in it: kept as it is.
    case captured
    /// An element that has been counted as skipped, and all in it.
    case ignored
  }

  struct Frame {
    var name: ElementName
    var role: Role
  }

  /// Far beyond any export, and little enough for JSON decoders, which stop at 512.
  static let maximumDepth = 100

  private(set) var frames: [Frame] = []

  var role: Role? { frames.last?.role }
  var isEmpty: Bool { frames.isEmpty }
  /// The frame that would be closed last but for the root: the top-level element.
  var topLevelName: ElementName? { frames.count > 1 ? frames[1].name : nil }

  mutating func push(_ name: ElementName, _ role: Role) {
    frames.append(Frame(name: name, role: role))
  }

  mutating func pop() -> Frame { frames.removeLast() }

  /// What an element of this name is where it opens now, as long as nothing is wrong with what it says.
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

  /// How many elements must have lost their closing tags if `name` opens here.
  func unclosed(before name: ElementName) -> Int {
    guard let role, role != .root else { return 0 }
    if name == .record {
      if role == .correlation { return 0 }
      // A record in a record: the outer one was not closed.
      if frames.last?.name == .record, role != .branch { return 1 }
      let holders: Set<Role> = [.correlation, .root, .ignored, .captured]
      guard let index = frames.lastIndex(where: { holders.contains($0.role) }) else { return 0 }
      let isInside = frames[index].role == .ignored || frames[index].role == .captured
      return isInside ? 0 : frames.count - 1 - index
    }
    guard name.isTopLevel, let root = frames.firstIndex(where: { $0.role == .root }) else { return 0 }
    return frames.count - 1 - root
  }

  /// How many elements the closing tag `name` closes: none if it has no opening tag.
  func closed(by name: ElementName) -> Int {
    if frames.last?.name == name { return 1 }
    guard let index = frames.lastIndex(where: { $0.name == name }) else { return 0 }
    return frames.count - index
  }
}
