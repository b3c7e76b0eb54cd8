/// A record from a health institution (`HKClinicalRecord`): a FHIR resource and its origin.
public struct ClinicalRecord: Hashable, Sendable {
  /// HealthKit's identifier, unique within its source.
  public var identifier: String
  /// The FHIR version: `4.0.1`.
  public var fhirVersion: String?
  /// The address of the resource on the FHIR server.
  public var sourceURL: String?
  /// The time at which the phone received the record (`receivedDate`), possibly years after the event that it
  /// describes.
  public var received: Timestamp?
  /// The path of the file in Apple's export: `/clinical-records/Observation-….json`.
  public var path: String?
  /// The FHIR resource as JSON, or as a JSON string if the file is not JSON. `nil` if the file was not available.
  public var resource: JSONValue?

  /// Creates a record.
  ///
  /// - Parameter resource: not validated against FHIR.
  public init(
    identifier: String, fhirVersion: String? = nil, sourceURL: String? = nil, received: Timestamp? = nil,
    path: String? = nil, resource: JSONValue? = nil
  ) {
    self.identifier = identifier
    self.fhirVersion = fhirVersion
    self.sourceURL = sourceURL
    self.received = received
    self.path = path
    self.resource = resource
  }
}

extension ClinicalRecord: SamplePayload {
  package static let kind = "clinicalRecord"
  package static let isUniqueAtItsTime = true
  package static let isLarge = true
  package static let holdsAnyJSON = true
  package var payload: Payload { .clinicalRecord(self) }

  /// The identifier is already part of the identity.
  package var rankDetail: RankDetail { .nothing }

  public init(from decoder: any Decoder) throws {
    let object = try decoder.strictContainer([
      "identifier", "fhirVersion", "sourceURL", "received", "path", "resource",
    ])
    identifier = try object.decode(String.self, forKey: "identifier")
    fhirVersion = try object.decodeIfPresent(String.self, forKey: "fhirVersion")
    sourceURL = try object.decodeIfPresent(String.self, forKey: "sourceURL")
    received = try object.decodeIfPresent(Timestamp.self, forKey: "received")
    path = try object.decodeIfPresent(String.self, forKey: "path")
    resource = try object.decodeIfPresent(JSONValue.self, forKey: "resource")
  }
}

extension ClinicalRecord: SideFilePayload {
  package var hasFile: Bool { resource != nil }

  package func otherKeyKind(_ kind: String) -> String? {
    let (bare, whole) = ("ClinicalRecord:\(identifier)", "ClinicalRecord:\(identifier):resource")
    if hasFile { return kind == whole ? bare : nil }
    return kind == bare || identifier.isEmpty && kind == "ClinicalRecord" ? whole : nil
  }

  package static let sideFilePaths = SideFilePaths(link: "$.identifier", content: "$.resource")

  package static func withFile(link: String?) -> (content: ClinicalRecord, keyKind: String) {
    let identifier = link ?? ""
    return (ClinicalRecord(identifier: identifier, resource: .null), "ClinicalRecord:\(identifier):resource")
  }
}
