import HealthModel

/// The handler of unknown elements. Inside open samples, they become metadata; inside `Me` and `ExportDate`,
/// characteristics.
struct UnknownHandler {
  /// The maximum number of elements inside an unknown element. A larger element is not kept.
  private static let maximumElements = 10_000

  /// The unknown elements that are open.
  private var elements: [RawElement] = []
  /// The number of elements in the outermost unknown element so far.
  private var count = 0
  /// The place of the open metadata entry or heart beat.
  var leafPlace: String?

  /// Begins an unknown element, inside an element with few or no known children or inside another unknown element.
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

  /// Finishes an unknown element.
  ///
  /// - Parameter parent: the frame of the parent element.
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
