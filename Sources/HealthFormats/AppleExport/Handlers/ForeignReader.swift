import HealthModel

/// Keeps an element that the model has no payload for, as JSON.
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

  /// `clinicalRecord` for `ClinicalRecord`.
  private static func lowerCamel(_ name: String) -> String {
    name.prefix(1).lowercased() + name.dropFirst()
  }
}
