import HealthModel

/// `Audiogram`. What its payload has no place for becomes metadata.
enum AudiogramReader {
  static func read(_ element: RawElement, into draft: inout Draft, _ context: inout ReadingContext) {
    var audiogram = Audiogram(points: [])
    draft.metadata.keep(rest: draft.attributes, of: "Audiogram", &context)
    for child in element.children {
      switch child.name {
      case "MetadataEntry": draft.metadata.read(child, &context)
      case "SensitivityPoint":
        if let point = point(child, after: audiogram.points, in: &draft.metadata, &context) {
          audiogram.points.append(point)
        }
      default: draft.metadata.keep(child, of: "Audiogram", &context)
      }
    }
    draft.sample.payload = .audiogram(audiogram)
  }

  private static func point(
    _ element: RawElement, after earlier: [SensitivityPoint], in entries: inout MetadataEntries,
    _ context: inout ReadingContext
  ) -> SensitivityPoint? {
    context.noticeLine = element.line
    var attributes = element.attributes
    guard let frequency = attributes.takeNumber("frequencyValue") else {
      entries.keep(element, of: "Audiogram", &context)
      return nil
    }
    let unit = attributes.take("frequencyUnit") ?? ""
    var point = SensitivityPoint(frequency: Quantity(frequency, unit))
    point.left = ear("leftEar", &attributes)
    point.right = ear("rightEar", &attributes)
    let number = earlier.count { $0.frequency.value == frequency } + 1
    let place = KeptName.place("SensitivityPoint.\(frequency)", number)
    entries.keep(rest: attributes, of: "SensitivityPoint", prefix: "\(place).", &context)
    for child in element.children { entries.keep(child, of: "SensitivityPoint", at: place, &context) }
    return point
  }

  private static func ear(_ side: String, _ attributes: inout AttributeList) -> EarSensitivity? {
    var ear = EarSensitivity()
    if let value = attributes.takeNumber("\(side)Value") {
      ear.threshold = Quantity(value, attributes.take("\(side)Unit") ?? "")
    }
    ear.lowerBound = attributes.takeNumber("\(side)ClampingRangeLowerBound")
    ear.upperBound = attributes.takeNumber("\(side)ClampingRangeUpperBound")
    let masked = attributes.value(of: "\(side)Masked")?.lowercased()
    if let masked, let flag = ["1": true, "true": true, "yes": true, "0": false, "false": false, "no": false][masked] {
      ear.masked = flag
      _ = attributes.take("\(side)Masked")
    }
    return ear == EarSensitivity() ? nil : ear
  }
}
