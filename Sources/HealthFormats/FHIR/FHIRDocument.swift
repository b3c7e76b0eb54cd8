import Foundation
import HealthModel

/// The form of a clinical record: a `DocumentReference` with the original resource of the other system as attachment.
enum FHIRDocument {
  /// The maximum size of the attached resource in bytes. Resources of institutions have a few thousand.
  private static let maximumContent = 4 << 20

  /// Appends the `DocumentReference` of a clinical record.
  ///
  /// - Returns: false, and nothing is written, if the record is too large.
  static func append(
    _ sample: Sample, _ record: ClinicalRecord, agent: FHIRPage.AgentForm, map: FHIRMap, subject: [UInt8],
    naming: FHIRWriter.Naming, to bytes: inout [UInt8]
  ) throws -> Bool {
    let content = try record.resource.map { try CanonicalJSON.encode($0) }
    var bare = record
    bare.resource = nil
    var rest = sample
    rest.payload = .clinicalRecord(bare)
    let extensionText = try CanonicalJSON.encode(rest)
    guard content?.utf8.count ?? 0 <= maximumContent, extensionText.utf8.count < FHIRText.maximumString else {
      return false
    }
    bytes.append("{\"resourceType\":\"DocumentReference\"")
    if naming == .ids { bytes.append(id: sample.uuid) }
    bytes.append(contentsOf: agent.contained)
    bytes.append(",\"extension\":[{\"url\":\"urn:hpeer:fhir:sample\",\"valueString\":")
    bytes.append(quoted: extensionText)
    bytes.append("}],\"identifier\":[{\"system\":\"urn:ietf:rfc:3986\",\"value\":\"urn:uuid:")
    bytes.append(lowercased: sample.uuid)
    bytes.append("\"}],\"status\":\"current\",\"type\":")
    bytes.append(concept: map.codings(of: sample.type), text: FHIRMap.name(of: sample.type))
    bytes.append(contentsOf: subject)
    bytes.append(",\"date\":\"")
    FHIRText.append(sample.created.flatMap { FHIRText.canSay($0) ? $0 : nil } ?? sample.start, in: nil, to: &bytes)
    bytes.append("\",\"author\":[{\"reference\":\"#device\"}],\"content\":[{\"attachment\":{\"title\":")
    bytes.append(quoted: FHIRText.plain(record.identifier) ?? FHIRMap.name(of: sample.type))
    if let content {
      bytes.append(",\"contentType\":\"application/fhir+json\",\"data\":\"")
      bytes.append(contentsOf: Data(content.utf8).base64EncodedData())
      bytes.append("\"")
    }
    bytes.append("}}]}")
    return true
  }

  /// Returns the clinical record that ``append(_:_:agent:map:subject:naming:to:)`` wrote.
  ///
  /// - Parameter rest: the text of hpeer's extension.
  static func sample(_ rest: String, _ resource: JSONValue) throws(FHIRObservation.Failure) -> Sample {
    guard var sample = try? CanonicalJSON.decode(Sample.self, rest), case .clinicalRecord(var record) = sample.payload
    else { throw .malformed("extension of hpeer's") }
    if let text = resource["content"]?.elements.first?["attachment"]?["data"]?.text {
      guard let data = Data(base64Encoded: text), data.count <= maximumContent,
        data.withUnsafeBytes({ JSONBudget.payload.verdict(on: $0) }) == .fits,
        let content = try? JSONParser.parse(Array(data)[...])
      else { throw .malformed("attachment") }
      record.resource = content
    }
    sample.payload = .clinicalRecord(record)
    return sample
  }
}
