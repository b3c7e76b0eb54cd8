import HealthModel

/// Writes elements that the model has no payload for.
extension AppleExportWriter {
  /// Writes such an element from its attributes and children.
  mutating func other(_ element: ForeignElement, of sample: Sample) {
    var kept = KeptMetadata(sample.metadata, text)
    output.start(element.name)
    // A sample read from an element without a type has the element's name as its type.
    if element.attributes["type"] == nil, sample.type.rawValue != element.name {
      output.attribute("type", sample.type.rawValue)
    }
    // A sample read from an element without a date keeps these in its attributes.
    let names = ["sourceName", "sourceVersion", "device", "creationDate", "startDate", "endDate"]
    let isUndated =
      sample.start == Timestamp(seconds: 0) && sample.end == sample.start && sample.source == Source(name: "")
    if !isUndated {
      source(of: sample)
      var reader = DateReader()
      let other = AppleElements.startAttributes.lazy.compactMap { element.attributes[$0.description] }.first
      let hasStart = other.flatMap { reader.read($0)?.date } != sample.start
      dates(of: sample, &kept, hasStart: hasStart)
    }
    for (name, value) in element.attributes.sorted(by: { $0.key < $1.key })
    where isUndated || !names.contains(name) {
      if !output.attribute(other: name, value) { kept.giveBack(attribute: name, value) }
    }
    attributes(&kept)
    entries(&kept)
    for child in element.children { write(child) }
    finish(&kept)
  }
}
