import HealthModel

/// Reads and writes `Audiogram` with its `SensitivityPoint` elements.
extension Audiogram: AppleElement {
  static var elementName: String { "Audiogram" }
  static var typeWithoutName: SampleType { SampleType("HKDataTypeIdentifierAudiogram") }

  // MARK: Reading

  static func read(_ element: RawElement, into draft: inout Draft, _ context: inout ReadingContext) {
    var audiogram = Audiogram(points: [])
    var counts: [Double: Int] = [:]
    draft.metadata.keep(rest: draft.attributes, of: elementName, &context)
    for child in element.children {
      switch child.name {
      case "MetadataEntry": draft.metadata.read(child, &context)
      case "SensitivityPoint":
        if let point = point(child, counted: &counts, in: &draft.metadata, &context) {
          audiogram.points.append(point)
        }
      default: draft.metadata.keep(child, of: elementName, &context)
      }
    }
    draft.sample.payload = .audiogram(audiogram)
  }

  /// - Parameter counts: the number of points of each frequency so far.
  private static func point(
    _ element: RawElement, counted counts: inout [Double: Int], in entries: inout MetadataEntries,
    _ context: inout ReadingContext
  ) -> SensitivityPoint? {
    context.noticeLine = element.line
    var attributes = element.attributes
    guard let frequency = attributes.takeNumber("frequencyValue") else {
      entries.keep(element, of: elementName, &context)
      return nil
    }
    let unit = attributes.take("frequencyUnit") ?? ""
    var point = SensitivityPoint(frequency: Quantity(frequency, unit))
    point.left = ear("leftEar", &attributes)
    point.right = ear("rightEar", &attributes)
    counts[frequency, default: 0] += 1
    let place = PreservedKey.place("SensitivityPoint.\(frequency)", counts[frequency] ?? 1)
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

  // MARK: Writing

  func write(_ sample: Sample, related: [Sample], to writer: inout AppleExportWriter) -> Bool {
    var kept = KeptMetadata(sample.metadata, writer.text)
    writer.output.start(Self.elementName)
    writer.output.attribute("type", sample.type.rawValue)
    writer.source(of: sample)
    writer.dates(of: sample, &kept)
    writer.attributes(&kept)
    writer.entries(&kept)
    var numbers: [Double: Int] = [:]
    for point in points {
      let frequency = point.frequency.value
      numbers[frequency, default: 0] += 1
      writer.output.start("SensitivityPoint")
      writer.quantity("frequencyValue", "frequencyUnit", point.frequency)
      Self.write(point.left, of: "leftEar", to: &writer)
      Self.write(point.right, of: "rightEar", to: &writer)
      writer.unknown(at: PreservedKey.place("SensitivityPoint.\(frequency)", numbers[frequency] ?? 1), &kept)
      writer.output.end()
    }
    writer.finish(&kept)
    return true
  }

  private static func write(_ ear: EarSensitivity?, of side: String, to writer: inout AppleExportWriter) {
    guard let ear else { return }
    writer.quantity("\(side)Value", "\(side)Unit", ear.threshold)
    writer.output.attribute("\(side)Masked", ear.masked.map { $0 ? "1" : "0" })
    for (name, bound) in [("LowerBound", ear.lowerBound), ("UpperBound", ear.upperBound)] {
      writer.output.attribute("\(side)ClampingRange\(name)", bound.map { writer.text.number($0) })
    }
  }
}
