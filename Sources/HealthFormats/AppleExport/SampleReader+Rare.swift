import HealthModel

/// `Audiogram`, `VisionPrescription` and `ClinicalRecord`. What their payloads have no place for becomes metadata.
extension SampleReader {
  mutating func readAudiogram(_ children: [RawElement], into draft: inout Draft) {
    var audiogram = Audiogram(points: [])
    keepRest(of: draft.attributes, of: "Audiogram", in: &draft.metadata)
    for child in children {
      switch child.name {
      case "MetadataEntry":
        if let entry = entry(child, keepingIn: &draft.metadata) { draft.metadata.append(entry) }
      case "SensitivityPoint":
        if let point = sensitivityPoint(child, after: audiogram.points, keepingIn: &draft.metadata) {
          audiogram.points.append(point)
        }
      default: keep(child, of: "Audiogram", in: &draft.metadata)
      }
    }
    draft.sample.payload = .audiogram(audiogram)
  }

  private mutating func sensitivityPoint(
    _ element: RawElement, after earlier: [SensitivityPoint], keepingIn entries: inout [(key: String, value: String)]
  ) -> SensitivityPoint? {
    noticeLine = element.line
    var attributes = element.attributes
    guard let frequency = takeNumber("frequencyValue", &attributes) else {
      keep(element, of: "Audiogram", in: &entries)
      return nil
    }
    let unit = attributes.take("frequencyUnit") ?? ""
    var point = SensitivityPoint(frequency: Quantity(frequency, unit))
    point.left = ear("leftEar", &attributes)
    point.right = ear("rightEar", &attributes)
    let number = earlier.count { $0.frequency.value == frequency } + 1
    let place = Self.place("SensitivityPoint.\(frequency)", number)
    keepRest(of: attributes, of: "SensitivityPoint", prefix: "\(place).", in: &entries)
    for child in element.children { keep(child, of: "SensitivityPoint", at: place, in: &entries) }
    return point
  }

  private mutating func ear(_ side: String, _ attributes: inout AttributeList) -> EarSensitivity? {
    var ear = EarSensitivity()
    if let value = takeNumber("\(side)Value", &attributes) {
      ear.threshold = Quantity(value, attributes.take("\(side)Unit") ?? "")
    }
    ear.lowerBound = takeNumber("\(side)ClampingRangeLowerBound", &attributes)
    ear.upperBound = takeNumber("\(side)ClampingRangeUpperBound", &attributes)
    let masked = attributes.rest.first { $0.name == "\(side)Masked" }?.value.lowercased()
    if let masked, let flag = ["1": true, "true": true, "yes": true, "0": false, "false": false, "no": false][masked] {
      ear.masked = flag
      _ = attributes.take("\(side)Masked")
    }
    return ear == EarSensitivity() ? nil : ear
  }

  mutating func readPrescription(_ children: [RawElement], into draft: inout Draft) {
    var prescription = VisionPrescription()
    prescription.expires = takeDate("expirationDate", &draft.attributes)
    prescription.brand = draft.attributes.take("brand")
    keepRest(of: draft.attributes, of: "VisionPrescription", in: &draft.metadata)
    var room = Self.maximumAttachments
    for child in children {
      switch child.name {
      case "MetadataEntry":
        if let entry = entry(child, keepingIn: &draft.metadata) { draft.metadata.append(entry) }
      case "RightEye" where prescription.right == nil: prescription.right = eye(child, keepingIn: &draft.metadata)
      case "LeftEye" where prescription.left == nil: prescription.left = eye(child, keepingIn: &draft.metadata)
      case "Attachment":
        noticeLine = child.line
        var attributes = child.attributes
        prescription.attachments.append(attachment(attributes.take("identifier"), room: &room))
        let place = Self.place("Attachment", prescription.attachments.count)
        keepRest(of: attributes, of: "Attachment", prefix: "\(place).", in: &draft.metadata)
        for inner in child.children { keep(inner, of: "Attachment", at: place, in: &draft.metadata) }
      default: keep(child, of: "VisionPrescription", in: &draft.metadata)
      }
    }
    draft.sample.payload = .visionPrescription(prescription)
  }

  private mutating func eye(
    _ element: RawElement, keepingIn entries: inout [(key: String, value: String)]
  ) -> [String: Quantity] {
    noticeLine = element.line
    var attributes = element.attributes
    var eye: [String: Quantity] = [:]
    for (name, _) in attributes.rest where !name.hasSuffix("Unit") && eye[name] == nil {
      guard let value = takeNumber(name, &attributes) else { continue }
      eye[name] = Quantity(value, attributes.take(name + "Unit") ?? "")
    }
    keepRest(of: attributes, of: element.name, prefix: "\(element.name).", in: &entries)
    for child in element.children { keep(child, of: element.name, at: element.name, in: &entries) }
    return eye
  }

  /// A record whose resource is there has an identity of its own, so that it is not missed when only a later import has
  /// it; then the one without is deleted.
  mutating func readClinicalRecord(_ children: [RawElement], into draft: inout Draft) {
    var record = ClinicalRecord(identifier: draft.attributes.take("identifier") ?? "")
    record.fhirVersion = draft.attributes.take("fhirVersion")
    record.sourceURL = draft.attributes.take("sourceURL")
    record.received = takeDate("receivedDate", &draft.attributes) ?? draft.sample.start
    record.path = draft.attributes.take("resourceFilePath")
    record.resource = record.path.flatMap { resource($0) }
    keepRest(of: draft.attributes, of: "ClinicalRecord", in: &draft.metadata)
    for child in children {
      if child.name == "MetadataEntry" {
        if let entry = entry(child, keepingIn: &draft.metadata) { draft.metadata.append(entry) }
      } else {
        keep(child, of: "ClinicalRecord", in: &draft.metadata)
      }
    }
    if record.resource != nil {
      draft.kind = .other(name: "ClinicalRecord", identifier: "\(record.identifier):resource")
    }
    draft.sample.payload = .clinicalRecord(record)
  }
}
