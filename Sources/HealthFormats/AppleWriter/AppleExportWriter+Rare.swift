import HealthModel

/// `Audiogram`, `VisionPrescription` and `ClinicalRecord`.
extension AppleExportWriter {
  mutating func audiogram(_ audiogram: Audiogram, of sample: Sample) {
    var kept = KeptMetadata(sample.metadata, text)
    output.start("Audiogram")
    output.attribute("type", sample.type.rawValue)
    source(of: sample)
    dates(of: sample, &kept)
    attributes(kept)
    entries(kept)
    for point in audiogram.points {
      output.start("SensitivityPoint")
      quantity(point.frequency, "frequencyValue", "frequencyUnit")
      ear(point.left, "leftEar")
      ear(point.right, "rightEar")
      nested("SensitivityPoint.\(point.frequency.value)", kept)
      output.end()
    }
    output.end()
  }

  private mutating func ear(_ ear: EarSensitivity?, _ side: String) {
    guard let ear else { return }
    quantity(ear.threshold, "\(side)Value", "\(side)Unit")
    output.attribute("\(side)Masked", ear.masked.map { $0 ? "1" : "0" })
    output.attribute("\(side)ClampingRangeLowerBound", ear.lowerBound.map { text.number($0) })
    output.attribute("\(side)ClampingRangeUpperBound", ear.upperBound.map { text.number($0) })
  }

  private mutating func quantity(_ quantity: Quantity?, _ value: String, _ unit: String) {
    guard let quantity else { return }
    output.attribute(value, text.number(quantity.value))
    output.attribute(unit, quantity.unit.isEmpty ? nil : quantity.unit)
  }

  mutating func prescription(_ prescription: VisionPrescription, of sample: Sample) {
    let kept = KeptMetadata(sample.metadata, text)
    output.start("VisionPrescription")
    output.attribute("type", sample.type.rawValue)
    output.attribute("dateIssued", text.date(sample.start))
    output.attribute("expirationDate", prescription.expires.map { text.date($0) })
    output.attribute("brand", prescription.brand)
    if !sample.source.name.isEmpty { source(of: sample) }
    attributes(kept)
    for (name, eye) in [("RightEye", prescription.right), ("LeftEye", prescription.left)] {
      guard let eye else { continue }
      output.start(name)
      let names =
        Self.eyeAttributes.filter { eye[$0] != nil } + eye.keys.filter { !Self.eyeAttributes.contains($0) }.sorted()
      for name in names where XMLOutput.isName(name) { quantity(eye[name], name, name + "Unit") }
      nested(name, kept)
      output.end()
    }
    for attachment in prescription.attachments {
      output.start("Attachment")
      output.attribute("identifier", attachment.identifier)
      nested("Attachment", kept)
      output.end()
    }
    entries(kept)
    output.end()
  }

  private static let eyeAttributes = [
    "sphere", "cylinder", "axis", "add", "vertex", "prismAmount", "prismAngle", "farPD", "nearPD", "baseCurve",
    "diameter",
  ]

  /// Its resource is a file beside the XML.
  mutating func clinicalRecord(_ record: ClinicalRecord, of sample: Sample) {
    let kept = KeptMetadata(sample.metadata, text)
    output.start("ClinicalRecord")
    output.attribute("type", sample.type.rawValue)
    output.attribute("identifier", record.identifier)
    source(of: sample)
    output.attribute("sourceURL", record.sourceURL)
    output.attribute("fhirVersion", record.fhirVersion)
    output.attribute("receivedDate", text.date(record.received ?? sample.start))
    output.attribute("resourceFilePath", record.path)
    attributes(kept)
    entries(kept)
    output.end()
  }
}
