import HealthModel

/// `Workout` and every other top-level element: read as a tree, made into a sample when it is whole.
extension SampleReader {
  /// More elements than this in one are beyond any export.
  private var maximumTree: Int { 1_000_000 }

  mutating func beginEntity(_ kind: ElementKind) -> ElementStack.Role {
    let attributes = CommonAttributes(scanner)
    let name = decoded(scanner.name)
    guard var draft = entityDraft(kind, attributes, called: name) else { return .ignored }
    for index in attributes.others {
      let attribute = scanner.attribute(index)
      let isStart =
        attributes.start == nil
        && (attribute.name == "dateIssued" && name == "VisionPrescription"
          || attribute.name == "receivedDate" && name == "ClinicalRecord")
      // What the sample says already is not said twice.
      if isStart, keys.date(decoded(attribute.value)) == draft.sample.start { continue }
      draft.attributes.append(decoded(attribute.name), decoded(attribute.value))
    }
    let type = kind == .workout || draft.hash == 0 ? attributes.type : nil
    for (name, bytes) in [("type", type), ("value", attributes.value), ("unit", attributes.unit)] {
      if let bytes { draft.attributes.append(name, decoded(bytes)) }
    }
    current = draft
    tree = [RawElement(name: name, line: scanner.tokenLine())]
    treeSize = 0
    routes = []
    return .entity
  }

  private mutating func entityDraft(
    _ kind: ElementKind, _ attributes: CommonAttributes, called name: String
  ) -> Draft? {
    if case .other(let name, _) = kind, !keys.hasDate(attributes, in: scanner) {
      var draft = undatedDraft(name)
      for (name, bytes) in [
        ("sourceName", attributes.source), ("sourceVersion", attributes.version), ("device", attributes.device),
        ("creationDate", attributes.created), ("startDate", attributes.start), ("endDate", attributes.end),
      ] {
        if let bytes { draft.attributes.append(name, decoded(bytes)) }
      }
      return draft
    }
    return draft(kind, attributes, called: name)
  }

  mutating func branchRole(of name: ElementName) throws -> ElementStack.Role {
    // The points of a route, as older exports have them: not as a tree, because there are many.
    if name == .location, let route = tree.last?.route, readLocation(into: route) { return .point }
    treeSize += 1
    guard treeSize <= maximumTree else {
      throw ImportError.tooLarge(what: "an element with a million others", at: scanner.tokenPosition)
    }
    if name == .workoutRoute, tree.count == 1, let workout = current, workout.kind == .workout {
      routes.append(beginRoute(in: workout))
      tree.append(RawElement(name: names.text(of: name), line: scanner.tokenLine(), route: routes.count - 1))
    } else {
      tree.append(rawElement(name))
    }
    return .branch
  }

  mutating func finishBranch() {
    guard let element = tree.popLast(), !tree.isEmpty else { return }
    tree[tree.count - 1].children.append(element)
  }

  mutating func finishEntity() throws {
    guard var draft = current.take(), let element = tree.popLast() else { return }
    report.elements[element.name, default: 0] += 1
    noticeLine = element.line
    switch draft.kind {
    // Without a date.
    case .other where draft.hash == 0: readOther(element, into: &draft)
    case .workout: readWorkout(element.children, into: &draft)
    case .other("Audiogram", _): readAudiogram(element.children, into: &draft)
    case .other("VisionPrescription", _): readPrescription(element.children, into: &draft)
    case .other("ClinicalRecord", _): readClinicalRecord(element.children, into: &draft)
    default: readOther(element, into: &draft)
    }
    complete(&draft)
    let isSuspect = isSuspect(draft)
    let reference = try emit(draft.sample, kind: draft.kind, isSuspect: isSuspect)
    if draft.kind == .workout { try finishRoutes(element.children, of: reference, isSuspect: isSuspect) }
  }

  /// Keeps an element that the model has no payload for, as JSON.
  private mutating func readOther(_ element: RawElement, into draft: inout Draft) {
    var children: [JSONValue] = []
    for child in element.children {
      if child.name == "MetadataEntry" {
        if let entry = entry(child, keepingIn: &draft.metadata) { draft.metadata.append(entry) }
      } else {
        children.append(json(child))
      }
    }
    remark("\(element.name) is unknown", .line(element.line))
    var content: [String: JSONValue] = ["attributes": json(draft.attributes)]
    if !children.isEmpty { content["children"] = .array(children) }
    draft.sample.payload = .foreign(Self.lowerCamel(element.name), .object(content))
    if draft.hash == 0 {
      draft.kind = .other(name: element.name, identifier: Self.identifier(ofUndated: draft))
    }
  }

  /// A `MetadataEntry` of a tree; `nil`, and kept as it is, when it has no key.
  mutating func entry(
    _ element: RawElement, keepingIn entries: inout [(key: String, value: String)]
  ) -> (key: String, value: String)? {
    noticeLine = element.line
    var attributes = element.attributes
    guard let key = attributes.take("key") else {
      keep(element, of: "MetadataEntry without a key", in: &entries)
      return nil
    }
    let value = attributes.take("value") ?? ""
    if !attributes.isEmpty || !element.children.isEmpty {
      let place = Self.place(ofEntry: key, value, after: entries)
      keepRest(of: attributes, of: "MetadataEntry", prefix: "\(place).", in: &entries)
      for child in element.children { keep(child, of: "MetadataEntry", at: place, in: &entries) }
    }
    return (key, value)
  }

  /// `clinicalRecord` for `ClinicalRecord`.
  private static func lowerCamel(_ name: String) -> String {
    name.prefix(1).lowercased() + name.dropFirst()
  }
}
