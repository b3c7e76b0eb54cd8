/// An element of Apple's export as it would be printed.
struct WrittenElement: Hashable {
  struct Attribute: Hashable {
    var name: String
    /// Without the characters that XML cannot say.
    var value: String
  }

  var name: String
  /// In the order of the document type.
  var attributes: [Attribute] = []
  var children: [WrittenElement] = []

  subscript(attribute: String) -> String? { attributes.first { $0.name == attribute }?.value }
}

/// Elements that are under way, and those that have ended.
struct KeptElements {
  private var open: [WrittenElement] = []
  private var ended: [WrittenElement] = []

  mutating func start(_ name: String) { open.append(WrittenElement(name: name)) }

  /// Of the element that was started last.
  mutating func attribute(_ name: String, _ value: String) {
    guard !open.isEmpty else { return }
    open[open.count - 1].attributes.append(WrittenElement.Attribute(name: name, value: XMLOutput.sayable(value)))
  }

  mutating func end() {
    guard let element = open.popLast() else { return }
    if open.isEmpty {
      ended.append(element)
    } else {
      open[open.count - 1].children.append(element)
    }
  }

  mutating func take() -> [WrittenElement] {
    defer { ended.removeAll(keepingCapacity: true) }
    return ended
  }
}
