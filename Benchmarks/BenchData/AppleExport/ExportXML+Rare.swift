import HealthModel
import TestSupport

/// Writers of elements that are rare in an export.
extension ExportXML {
  func writeRare() {
    let start = HealthHistory.begin + 200 * 86_400
    writeAudiogram(at: start)
    writePrescription(at: start + 86_400)
    for record in ClinicalRecord.all(of: export) { writeClinicalRecord(record) }
  }

  private func writeAudiogram(at start: Int64) {
    text.add(" <Audiogram type=\"HKDataTypeIdentifierAudiogram\" sourceName=\"Hearing\" sourceVersion=\"2.0\"")
    text.attribute("creationDate", Timestamp(seconds: start + 300))
    text.attribute("startDate", Timestamp(seconds: start))
    text.attribute("endDate", Timestamp(seconds: start + 240))
    text.add(">\n  <MetadataEntry key=\"HKTimeZone\" value=\"Europe/Berlin\"/>\n")
    for (index, frequency) in [250, 500, 1_000, 2_000, 4_000, 8_000].enumerated() {
      text.add(
        "  <SensitivityPoint frequencyValue=\"\(frequency)\" frequencyUnit=\"Hz\" leftEarValue=\"\(5 + index * 3)\" "
          + "leftEarUnit=\"dBHL\" leftEarMasked=\"false\" rightEarValue=\"\(8 + index * 2)\" rightEarUnit=\"dBHL\" "
          + "rightEarMasked=\"false\"/>\n")
    }
    text.add(" </Audiogram>\n")
  }

  private func writePrescription(at issued: Int64) {
    text.add(" <VisionPrescription type=\"HKVisionPrescriptionTypeGlasses\"")
    text.attribute("dateIssued", Timestamp(seconds: issued))
    text.attribute("expirationDate", Timestamp(seconds: issued + 730 * 86_400))
    text.add(">\n")
    for (eye, sphere) in [("RightEye", "-1.25"), ("LeftEye", "-1.5")] {
      text.add(
        "  <\(eye) sphere=\"\(sphere)\" sphereUnit=\"D\" cylinder=\"-0.5\" cylinderUnit=\"D\" axis=\"90\" axisUnit=\"deg\" "
          + "farPD=\"31.5\" farPDUnit=\"mm\"/>\n")
    }
    text.add("  <Attachment identifier=\"3D2A7C55-3A6E-4A57-9C4C-0F8B3E2B7C11\"/>\n </VisionPrescription>\n")
  }

  private func writeClinicalRecord(_ record: ClinicalRecord) {
    text.add(" <ClinicalRecord type=\"Observation\"")
    text.attribute("identifier", record.identifier)
    text.attribute("sourceName", "Example Clinic")
    text.attribute("sourceURL", "https://fhir.example.com/r4/Observation/\(record.identifier)")
    text.attribute("fhirVersion", "4.0.1")
    text.attribute("receivedDate", Timestamp(seconds: record.received))
    text.attribute("resourceFilePath", "/" + record.path)
    text.add("/>\n")
  }
}

/// A laboratory result and its file.
struct ClinicalRecord: Sendable {
  let identifier: String
  let received: Int64

  /// Returns a clinical record for every 20,000 records, at least one.
  static func all(of export: MadeExport) -> [ClinicalRecord] {
    var random = SeededGenerator(seed: export.seed &+ 99)
    return (0..<max(1, export.records / 20_000)).map { index in
      ClinicalRecord(
        identifier: random.uuid().uuidString, received: HealthHistory.begin + Int64(index) * 7_000 + 86_400)
    }
  }

  var path: String { "clinical-records/Observation-\(identifier).json" }

  var json: [UInt8] {
    Array(
      """
      {"resourceType": "Observation", "id": "\(identifier)", "status": "final",
       "code": {"coding": [{"system": "http://loinc.org", "code": "2093-3", "display": "Cholesterol"}]},
       "effectiveDateTime": "\(Timestamp(seconds: received - 3600).iso8601)",
       "valueQuantity": {"value": 187, "unit": "mg/dL"}}

      """.utf8)
  }
}
