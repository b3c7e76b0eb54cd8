import HealthModel

/// Elements that nothing understands are kept as the text of JSON, `{"element":…,"attributes":{…},"children":[…]}`, in
/// the metadata of what they are in, and in `Me` and `ExportDate` as characteristics. One in an element that has no metadata is with that one's parent, and has the place
/// in `in`: `MetadataEntry.HKTimeZone`, `WorkoutStatistics.HKQuantityTypeIdentifierHeartRate`, `Attachment#2`. Attributes
/// of such elements are `hpeer.attribute.`, the place, a full stop, and the name.
extension SampleReader {
  /// More elements than this in an unknown one are not kept.
  private var maximumCaptured: Int { 10_000 }
  /// In bytes: of one element, and of all that one sample keeps.
  private var maximumKept: (one: Int, all: Int) { (256 << 10, 1 << 20) }

  /// The metadata key of an element that the model has no place for.
  private func elementKey(_ name: String) -> String { "hpeer.element.\(name)" }

  /// An unknown element opens in an element of whose children none, or few, are known, or in what is in one.
  mutating func capture(_ name: ElementName) -> ElementStack.Role {
    guard current != nil || member != nil || !captured.isEmpty || isAboutPerson(stack.frames.last?.name) else {
      return ignore(name)
    }
    if captured.isEmpty { capturedCount = 0 }
    capturedCount += 1
    guard capturedCount <= maximumCaptured else { return ignore("unknown element that is too large to be kept") }
    captured.append(rawElement(name))
    return .captured
  }

  mutating func finishCapture() {
    guard let element = captured.popLast() else { return }
    if !captured.isEmpty {
      captured[captured.count - 1].children.append(element)
      return
    }
    // Its frame has been taken from the stack, so that the last one is its parent.
    let frame = stack.frames.last
    let parent = frame.map { names.text(of: $0.name) } ?? ""
    let place: String? =
      switch frame?.role {
      case .beats: parent
      case .leaf where !isAboutPerson(frame?.name): leafPlace
      default: nil
      }
    var entries: [(key: String, value: String)] = []
    keep(element, of: parent, at: place, in: &entries)
    if isAboutPerson(frame?.name) {
      for entry in entries { keepUnknown(element: element.name, of: parent, entry.value) }
      return
    }
    if member != nil { member?.metadata += entries } else { current?.metadata += entries }
  }

  /// The element that the scanner is at, without its children.
  mutating func rawElement(_ name: ElementName) -> RawElement {
    var element = RawElement(name: names.text(of: name), line: scanner.tokenLine())
    for index in 0..<scanner.attributeCount {
      let attribute = scanner.attribute(index)
      element.attributes.append(texts.key(attribute.name).text, decoded(attribute.value))
    }
    return element
  }

  /// Keeps an element that the model has no place for.
  ///
  /// - Parameter place: of the element that it is in, where that is not the one whose metadata it becomes.
  mutating func keep(
    _ element: RawElement, of parent: String, at place: String? = nil,
    in entries: inout [(key: String, value: String)]
  ) {
    let name = "\(parent)/\(element.name)"
    var object = json(element)
    if let place, case .object(var members) = object {
      members["in"] = .string(place)
      object = .object(members)
    }
    guard let text = try? CanonicalJSON.encode(object), text.utf8.count <= maximumKept.one,
      keptBytes + text.utf8.count <= maximumKept.all
    else { return skip("\(name) is unknown and too large to be kept", .line(element.line)) }
    keptBytes += text.utf8.count
    remark("\(name) is unknown", .line(element.line))
    entries.append((elementKey(element.name), text))
  }

  /// The name of the `number`th element like this in another.
  static func place(_ name: String, _ number: Int) -> String { number > 1 ? "\(name)#\(number)" : name }

  /// The place of a `MetadataEntry` after those in `entries`, numbered as ``metadata(_:)`` numbers keys.
  static func place(
    ofEntry key: String, _ value: String, after entries: [(key: String, value: String)]
  ) -> String {
    var values: [String] = []
    for entry in entries where entry.key == key && !values.contains(entry.value) { values.append(entry.value) }
    return place("MetadataEntry.\(key)", (values.firstIndex(of: value) ?? values.count) + 1)
  }

  func json(_ element: RawElement) -> JSONValue {
    var object: [String: JSONValue] = ["element": .string(element.name), "attributes": json(element.attributes)]
    if !element.children.isEmpty { object["children"] = .array(element.children.map { json($0) }) }
    return .object(object)
  }

  func json(_ attributes: AttributeList) -> JSONValue {
    .object(Dictionary(attributes.rest.map { ($0.name, .string($0.value)) }, uniquingKeysWith: { first, _ in first }))
  }

  // MARK: At the top level

  /// An unknown top-level element without a date becomes a sample at 1970-01-01T00:00:00Z, told from others by all that
  /// it says.
  mutating func undatedDraft(_ name: String) -> Draft {
    remark("\(name) without a startDate")
    let epoch = Timestamp(seconds: 0)
    return Draft(
      kind: .other(name: name, identifier: nil), line: scanner.tokenLine(), hash: 0,
      sample: Sample(
        uuid: Self.noIdentity, type: SampleType(name), start: epoch, end: epoch, source: Source(name: ""),
        payload: .category(CategoryValue(value: nil))))
  }

  /// The second part of the kind that the identity of an undated sample is made of.
  static func identifier(ofUndated draft: Draft) -> String {
    let epoch = draft.sample.start
    let content =
      [(try? CodedPayload(draft.sample.payload))?.json ?? ""] + draft.metadata.flatMap { [$0.key, $0.value] }
    return SampleIdentity.uuid(
      kind: content.joined(separator: "\u{1F}"), type: draft.sample.type, source: "", start: epoch, end: epoch,
      created: nil, ordinal: 0
    ).uuidString
  }
}
