import HealthModel

/// The handler of `Correlation` elements.
struct CorrelationHandler {
  /// The most members that a correlation may have: more references to them cannot travel.
  private static let mostMembers = 100_000
  /// The members of the correlation that is open.
  private var members: [Draft] = []
  /// Whether the open correlation had more members than it may have. They go on as records of their own.
  private var isTooLarge = false

  mutating func begin(_ context: inout ReadingContext) -> ElementStack.Role {
    let attributes = CommonAttributes(context.scanner)
    guard var draft = Draft(.correlation, attributes, called: "Correlation", &context) else { return .ignored }
    for index in attributes.others {
      let (name, value) = context.decodedAttribute(index)
      draft.metadata.keep(attribute: name, value, of: "Correlation", &context)
    }
    for (name, bytes) in [("value", attributes.value), ("unit", attributes.unit)] {
      if let bytes { draft.metadata.keep(attribute: name, context.decoded(bytes), of: "Correlation", &context) }
    }
    (members, isTooLarge) = ([], false)
    context.open.outer = draft
    return .correlation
  }

  mutating func add(_ member: Draft, _ context: inout ReadingContext) throws {
    if isTooLarge {
      try context.delivery.add(member)
      return
    }
    members.append(member)
    guard members.count > Self.mostMembers else { return }
    isTooLarge = true
    for member in members { try context.delivery.add(member) }
    members = []
  }

  mutating func finish(_ context: inout ReadingContext) throws {
    guard var draft = context.open.outer.take() else { return }
    defer { members = [] }
    if isTooLarge { return context.skipTooLarge(draft.sample.type, line: draft.line) }
    draft.complete(&context)
    draft.sample.payload = .correlation(Correlation(members: members.map(\.sample.reference)))
    guard try context.takes(draft) else {
      // The members are records in their own right, so they are kept.
      for member in members { try context.delivery.add(member) }
      return
    }
    context.report.elements["Correlation", default: 0] += 1
    try context.delivery.add(correlation: draft, members: members)
  }
}
