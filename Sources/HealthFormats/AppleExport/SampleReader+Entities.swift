import HealthModel

/// `Workout` and every other top-level element: read as a tree, made into a sample when it is whole.
extension SampleReader {
  /// More elements than this in one are beyond any export.
  private var maximumTree: Int { 1_000_000 }

  mutating func beginEntity(_ kind: ElementKind) -> ElementStack.Role {
    let attributes = CommonAttributes(scanner)
    let name = decoded(scanner.name)
    guard var draft = draft(kind, attributes, called: name) else { return .ignored }
    for index in attributes.others {
      let attribute = scanner.attribute(index)
      let isStart = attributes.start == nil && (attribute.name == "dateIssued" || attribute.name == "receivedDate")
      // What the sample says already is not said twice.
      if isStart, keys.date(decoded(attribute.value)) == draft.sample.start { continue }
      draft.attributes.append(decoded(attribute.name), decoded(attribute.value))
    }
    let type = kind == .workout ? attributes.type : nil
    for (name, bytes) in [("type", type), ("value", attributes.value), ("unit", attributes.unit)] {
      if let bytes { draft.attributes.append(name, decoded(bytes)) }
    }
    current = draft
    tree = [RawElement(name: name)]
    treeSize = 0
    return .entity
  }

  mutating func branchRole(of name: ElementName) throws -> ElementStack.Role {
    // The points of a route, as older exports have them.
    if name == .location { return ignore("Location: routes are not imported yet") }
    treeSize += 1
    guard treeSize <= maximumTree else {
      throw ImportError.tooLarge(what: "an element with a million others", at: scanner.tokenPosition)
    }
    var element = RawElement(name: names.text(of: name))
    for index in 0..<scanner.attributeCount {
      let attribute = scanner.attribute(index)
      element.attributes.append(texts.key(attribute.name).text, decoded(attribute.value))
    }
    if element.name == "WorkoutRoute" { skip("WorkoutRoute: not imported yet") }
    tree.append(element)
    return .branch
  }

  mutating func finishBranch() {
    guard let element = tree.popLast(), !tree.isEmpty else { return }
    tree[tree.count - 1].children.append(element)
  }

  mutating func finishEntity() throws {
    guard var draft = current.take(), let element = tree.popLast() else { return }
    report.elements[element.name, default: 0] += 1
    switch draft.kind {
    case .workout: readWorkout(element.children, into: &draft)
    default: readOther(element, into: &draft)
    }
    complete(&draft)
    let isSuspect = isSuspect(draft)
    try emit(draft.sample, kind: draft.kind, isSuspect: isSuspect)
  }

  /// Keeps an element that the model has no payload for, as JSON.
  private mutating func readOther(_ element: RawElement, into draft: inout Draft) {
    var children: [JSONValue] = []
    for child in element.children {
      if child.name == "MetadataEntry" {
        if let entry = entry(child) { draft.metadata.append(entry) }
      } else {
        children.append(json(child))
      }
    }
    var content: [String: JSONValue] = ["attributes": json(draft.attributes)]
    if !children.isEmpty { content["children"] = .array(children) }
    draft.sample.payload = .foreign(Self.lowerCamel(element.name), .object(content))
  }

  /// A `MetadataEntry` of a tree; `nil`, and counted, when it has no key.
  mutating func entry(_ element: RawElement) -> (key: String, value: String)? {
    var attributes = element.attributes
    guard let key = attributes.take("key") else {
      skip("MetadataEntry without a key")
      return nil
    }
    let value = attributes.take("value") ?? ""
    for (name, _) in attributes.rest { skip("MetadataEntry with an unknown attribute \(name)") }
    return (key, value)
  }

  private func json(_ element: RawElement) -> JSONValue {
    var object: [String: JSONValue] = ["element": .string(element.name), "attributes": json(element.attributes)]
    if !element.children.isEmpty { object["children"] = .array(element.children.map { json($0) }) }
    return .object(object)
  }

  private func json(_ attributes: AttributeList) -> JSONValue {
    .object(Dictionary(attributes.rest.map { ($0.name, .string($0.value)) }, uniquingKeysWith: { first, _ in first }))
  }

  /// `clinicalRecord` for `ClinicalRecord`.
  private static func lowerCamel(_ name: String) -> String {
    name.prefix(1).lowercased() + name.dropFirst()
  }
}
