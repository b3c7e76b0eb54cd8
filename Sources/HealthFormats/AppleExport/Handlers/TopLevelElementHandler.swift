import HealthModel

/// The handler of `Workout` and all other top-level elements. It collects an element as a tree and makes a sample of
/// it when it is complete.
struct TopLevelElementHandler {
  /// The maximum number of elements in a tree, and of bytes in their tags. Other machines would reject a larger
  /// sample.
  private static let maximumTree = (elements: 50_000, bytes: JSONBudget.sampleBytes)

  private var draft: Draft?
  /// The open element and the open elements inside it.
  private var tree: [RawElement] = []
  private var treeSize = (elements: 0, bytes: Int64(0))
  var routes: RouteHandler

  init(routes: RouteHandler) { self.routes = routes }

  mutating func begin(_ kind: ElementKind, _ context: inout ReadingContext) -> ElementStack.Role {
    let attributes = CommonAttributes(context.scanner)
    let name = context.decoded(context.scanner.name)
    guard var draft = Self.draft(kind, attributes, called: name, &context) else { return .ignored }
    let startAttribute = AppleElements.named(name)?.startAttribute
    for index in attributes.others {
      let attribute = context.scanner.attribute(index)
      let isStart = attributes.start == nil && startAttribute.map { attribute.name == $0 } == true
      // Do not keep the start date twice.
      if isStart, context.keys.date(context.decoded(attribute.value)) == draft.sample.start { continue }
      draft.attributes.append(context.decoded(attribute.name), context.decoded(attribute.value))
    }
    let type = kind == .workout || draft.isUndated ? attributes.type : nil
    for (name, bytes) in [("type", type), ("value", attributes.value), ("unit", attributes.unit)] {
      if let bytes { draft.attributes.append(name, context.decoded(bytes)) }
    }
    self.draft = draft
    tree = [RawElement(name: name, line: context.scanner.tokenLine())]
    treeSize = (0, 0)
    routes.removeAll()
    return .entity
  }

  private static func draft(
    _ kind: ElementKind, _ attributes: CommonAttributes, called name: String, _ context: inout ReadingContext
  ) -> Draft? {
    if case .other(let name, _) = kind, !context.keys.hasDate(attributes, in: context.scanner) {
      return Draft(undated: name, attributes, &context)
    }
    return Draft(kind, attributes, called: name, &context)
  }

  // MARK: The elements in it

  mutating func beginBranch(_ name: ElementName, _ context: inout ReadingContext) throws -> ElementStack.Role {
    // Points of a route, which older exports have here, are too many for a tree.
    if name == .location, let route = tree.last?.route, routes.readLocation(into: route, &context) { return .point }
    treeSize.elements += 1
    treeSize.bytes += context.scanner.offset - context.scanner.tokenOffset
    guard isTreeWithinBudget else {
      // The sample will be skipped, so its tree needs no memory.
      for index in tree.indices { tree[index].children = [] }
      return .ignored
    }
    if name == .workoutRoute, tree.count == 1, let workout = draft, workout.kind == .workout {
      let route = routes.begin(in: workout, &context)
      tree.append(RawElement(name: context.names.text(of: name), line: context.scanner.tokenLine(), route: route))
    } else {
      tree.append(context.element(name))
    }
    return .branch
  }

  private var isTreeWithinBudget: Bool {
    treeSize.elements <= Self.maximumTree.elements && treeSize.bytes <= Self.maximumTree.bytes
  }

  mutating func finishBranch() {
    guard let element = tree.popLast(), !tree.isEmpty else { return }
    tree[tree.count - 1].children.append(element)
  }

  // MARK: The whole

  mutating func finish(_ context: inout ReadingContext) throws {
    guard var draft = draft.take(), let element = tree.popLast() else { return }
    context.noticeLine = element.line
    guard isTreeWithinBudget else { return context.skipTooLarge(draft.sample.type) }
    if !draft.isUndated, let kind = AppleElements.named(element.name) {
      kind.read(element, into: &draft, &context)
    } else {
      ForeignReader.read(element, into: &draft, &context)
    }
    draft.complete(&context)
    guard try context.takes(draft) else { return }
    context.report.elements[element.name, default: 0] += 1
    let reference = try context.delivery.add(draft)
    if draft.kind == .workout { try routes.finish(element.children, of: reference, draft.hash, &context) }
  }
}

/// A reader that keeps an element without a payload in the model as JSON.
enum ForeignReader {
  static func read(_ element: RawElement, into draft: inout Draft, _ context: inout ReadingContext) {
    var children: [JSONValue] = []
    for child in element.children {
      if child.name == "MetadataEntry" {
        draft.metadata.read(child, &context)
      } else {
        children.append(child.json)
      }
    }
    context.remark("\(element.name) is unknown", .line(element.line))
    var content: [String: JSONValue] = ["attributes": draft.attributes.json]
    if !children.isEmpty { content["children"] = .array(children) }
    draft.sample.payload = .foreign(lowerCamel(element.name), .object(content))
    if draft.isUndated { draft.kind = .undated(element.name, draft) }
  }

  /// Returns the name with a lowercase first letter: `clinicalRecord` for `ClinicalRecord`.
  private static func lowerCamel(_ name: String) -> String {
    name.prefix(1).lowercased() + name.dropFirst()
  }
}
