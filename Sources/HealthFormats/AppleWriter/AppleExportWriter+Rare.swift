import HealthModel

/// `Audiogram`, `VisionPrescription` and `ClinicalRecord`. Files beside the XML are named, not written.
extension AppleExportWriter {
  mutating func audiogram(_ sample: Sample) {
    guard case .audiogram(let audiogram) = sample.payload else { return }
    var kept = KeptMetadata(sample.metadata, text)
    output.start("Audiogram")
    output.attribute("type", sample.type.rawValue)
    source(of: sample)
    dates(of: sample, &kept)
    attributes(&kept)
    entries(&kept)
    var numbers: [Double: Int] = [:]
    for point in audiogram.points {
      let frequency = point.frequency.value
      numbers[frequency, default: 0] += 1
      output.start("SensitivityPoint")
      quantity("frequencyValue", "frequencyUnit", point.frequency)
      ear("leftEar", point.left)
      ear("rightEar", point.right)
      unknown(at: KeptName.place("SensitivityPoint.\(frequency)", numbers[frequency] ?? 1), &kept)
      output.end()
    }
    finish(&kept)
  }

  private mutating func ear(_ side: String, _ ear: EarSensitivity?) {
    guard let ear else { return }
    quantity("\(side)Value", "\(side)Unit", ear.threshold)
    output.attribute("\(side)Masked", ear.masked.map { $0 ? "1" : "0" })
    output.attribute("\(side)ClampingRangeLowerBound", ear.lowerBound.map { text.number($0) })
    output.attribute("\(side)ClampingRangeUpperBound", ear.upperBound.map { text.number($0) })
  }

  private mutating func quantity(_ name: String, _ unitName: String, _ quantity: Quantity?) {
    guard let quantity else { return }
    output.attribute(name, text.number(quantity.value))
    output.attribute(unitName, quantity.unit.isEmpty ? nil : quantity.unit)
  }

  mutating func prescription(_ sample: Sample) {
    guard case .visionPrescription(let prescription) = sample.payload else { return }
    var kept = KeptMetadata(sample.metadata, text)
    output.start("VisionPrescription")
    output.attribute("type", sample.type.rawValue)
    // What has a date of issue that is not the start has both.
    let issued = kept.take(attribute: "dateIssued")
    output.attribute("dateIssued", issued ?? text.date(sample.start))
    output.attribute(
      "expirationDate", kept.take(attribute: "expirationDate") ?? prescription.expires.map { text.date($0) })
    output.attribute("brand", prescription.brand)
    if sample.source != Source(name: "") || sample.device != nil { source(of: sample) }
    dates(of: sample, &kept, hasStart: issued != nil)
    attributes(&kept)
    eye("RightEye", prescription.right, &kept)
    eye("LeftEye", prescription.left, &kept)
    for (index, attachment) in prescription.attachments.enumerated() {
      output.start("Attachment")
      output.attribute("identifier", attachment.identifier)
      unknown(at: KeptName.place("Attachment", index + 1), &kept)
      output.end()
    }
    entries(&kept)
    finish(&kept)
  }

  private static let eyeAttributes = [
    "sphere", "cylinder", "axis", "add", "vertex", "prismAmount", "prismAngle", "farPD", "nearPD", "baseCurve",
    "diameter",
  ]

  private mutating func eye(_ name: String, _ eye: [String: Quantity]?, _ kept: inout KeptMetadata) {
    guard let eye else { return }
    output.start(name)
    let others = eye.keys.filter { !Self.eyeAttributes.contains($0) && XMLOutput.isName($0) }.sorted()
    for attribute in Self.eyeAttributes + others { quantity(attribute, attribute + "Unit", eye[attribute]) }
    unknown(at: name, &kept)
    output.end()
  }

  mutating func clinicalRecord(_ sample: Sample) {
    guard case .clinicalRecord(let record) = sample.payload else { return }
    var kept = KeptMetadata(sample.metadata, text)
    output.start("ClinicalRecord")
    output.attribute("type", sample.type.rawValue)
    output.attribute("identifier", record.identifier)
    source(of: sample)
    output.attribute("sourceURL", record.sourceURL)
    output.attribute("fhirVersion", record.fhirVersion)
    let received = kept.take(attribute: "receivedDate")
    output.attribute("receivedDate", received ?? text.date(record.received ?? sample.start))
    output.attribute("resourceFilePath", record.path)
    let isOwnStart = received != nil || record.received.map { text.date($0) != text.date(sample.start) } == true
    dates(of: sample, &kept, hasStart: isOwnStart)
    attributes(&kept)
    entries(&kept)
    finish(&kept)
  }
}
