import HealthModel

/// Elements that nothing understands, in what is open: they become its metadata, and in `Me` and `ExportDate`
/// characteristics.
struct UnknownHandler {
  /// More elements than this in an unknown one are not kept.
  private static let maximumElements = 10_000

  /// Those that are open.
  private var elements: [RawElement] = []
  /// How many there have been in the outermost.
  private var count = 0
  /// Of the entry or beat that is open.
  var leafPlace: String?

  /// An unknown element opens in an element of whose children none, or few, are known, or in what is in one.
  mutating func begin(
    _ name: ElementName, in parent: ElementName?, _ context: inout ReadingContext
  ) -> ElementStack.Role {
    guard !context.open.isEmpty || !elements.isEmpty || PersonHandler.keepsElements(in: parent) else {
      let outer = parent.map { context.names.text(of: $0) } ?? ""
      context.skip("\(outer)/\(context.names.text(of: name)) is unknown")
      return .ignored
    }
    if elements.isEmpty { count = 0 }
    count += 1
    guard count <= Self.maximumElements else {
      context.skip("unknown element that is too large to be kept")
      return .ignored
    }
    elements.append(context.element(name))
    return .captured
  }

  /// - Parameter parent: what it is in.
  mutating func finish(
    in parent: ElementStack.Frame?, _ person: inout PersonHandler, _ context: inout ReadingContext
  ) {
    guard let element = elements.popLast() else { return }
    if !elements.isEmpty {
      elements[elements.count - 1].children.append(element)
      return
    }
    let isAboutPerson = PersonHandler.keepsElements(in: parent?.name)
    let name = parent.map { context.names.text(of: $0.name) } ?? ""
    let place: String? =
      switch parent?.role {
      case .beats: name
      case .leaf where !isAboutPerson: leafPlace
      default: nil
      }
    var entries = MetadataEntries()
    entries.keep(element, of: name, at: place, &context)
    if isAboutPerson {
      for entry in entries.entries { person.keep(element: element.name, of: name, entry.value, &context) }
    } else {
      context.open.append(entries)
    }
  }
}
