import HealthModel

/// Elements that are kept as they are.
extension AppleExportWriter {
  /// An element that the model has no payload for, from its attributes and children.
  mutating func other(_ element: ForeignElement, of sample: Sample) {
    var kept = KeptMetadata(sample.metadata, text)
    output.start(element.name)
    // One without a type has the element's name for it.
    if element.attributes["type"] == nil, sample.type.rawValue != element.name {
      output.attribute("type", sample.type.rawValue)
    }
    // One without a date keeps in its attributes what it had of these.
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
