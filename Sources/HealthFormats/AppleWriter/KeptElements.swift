/// An element of Apple's export, before it is printed.
struct WrittenElement: Hashable {
  struct Attribute: Hashable {
    var name: String
    /// The value, without characters that XML does not allow.
    var value: String
  }

  var name: String
  /// The attributes, in the order of the document type.
  var attributes: [Attribute] = []
  var children: [WrittenElement] = []

  subscript(attribute: String) -> String? { attributes.first { $0.name == attribute }?.value }
}

/// The open elements and those that have ended.
struct KeptElements {
  private var open: [WrittenElement] = []
  private var ended: [WrittenElement] = []

  mutating func start(_ name: String) { open.append(WrittenElement(name: name)) }

  /// Adds an attribute to the innermost open element.
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
