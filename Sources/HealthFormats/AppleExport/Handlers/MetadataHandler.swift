import HealthModel

/// The handler of `MetadataEntry` elements in open samples.
enum MetadataHandler {
  /// Reads an entry.
  ///
  /// - Returns: the place of an entry that may have child elements or has unknown attributes.
  static func read(_ context: inout ReadingContext) -> String? {
    var key: InternedText?
    var value: InternedText?
    var others: [Int] = []
    for index in 0..<context.scanner.attributeCount {
      let attribute = context.scanner.attribute(index)
      if attribute.name == "key", key == nil {
        key = context.texts.key(attribute.value)
      } else if attribute.name == "value", value == nil {
        value = context.texts.value(attribute.value)
      } else {
        others.append(index)
      }
    }
    var entries = MetadataEntries()
    guard let key else {
      let element = context.element(.metadataEntry)
      entries.keep(element, of: "MetadataEntry without a key", &context)
      context.open.append(entries)
      return nil
    }
    var place: String?
    if !others.isEmpty || !context.scanner.isSelfClosing {
      place = context.open.place(ofEntry: key.text, value?.text ?? "")
    }
    for index in others {
      let (name, value) = context.decodedAttribute(index)
      entries.keep(attribute: "\(place ?? "").\(name)", value, of: "MetadataEntry", &context)
    }
    if value == nil { context.remark("MetadataEntry without a value") }
    context.remark(key.defects.union(value?.defects ?? []))
    entries.append(key.text, value?.text ?? "")
    context.open.append(entries)
    return place
  }
}
