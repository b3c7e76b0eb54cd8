import Foundation
import HealthModel

/// Reads and writes `ClinicalRecord`, whose FHIR resource is in a file.
extension ClinicalRecord: AppleElement {
  static var elementName: String { "ClinicalRecord" }
  static var typeWithoutName: SampleType { SampleType("HKClinicalTypeIdentifier") }
  static var startAttribute: StaticString? { "receivedDate" }
  var hasPartInFile: Bool { resource != nil }

  // MARK: Reading

  static func read(_ element: RawElement, into draft: inout Draft, _ context: inout ReadingContext) {
    var record = ClinicalRecord(identifier: draft.attributes.take("identifier") ?? "")
    record.fhirVersion = draft.attributes.take("fhirVersion")
    record.sourceURL = draft.attributes.take("sourceURL")
    record.received = draft.attributes.takeDate("receivedDate", &context.keys) ?? draft.sample.start
    record.path = draft.attributes.take("resourceFilePath")
    record.resource = record.path.flatMap { resource($0, &context) }
    draft.metadata.keep(rest: draft.attributes, of: elementName, &context)
    for child in element.children {
      if child.name == "MetadataEntry" {
        draft.metadata.read(child, &context)
      } else {
        draft.metadata.keep(child, of: elementName, &context)
      }
    }
    if record.resource != nil { draft.kind = .clinicalRecord(withResource: record.identifier) }
    draft.sample.payload = .clinicalRecord(record)
  }

  /// Returns the FHIR resource of a clinical record. Returns `nil`, and adds a remark, if it cannot be read.
  private static func resource(_ path: String, _ context: inout ReadingContext) -> JSONValue? {
    guard let member = context.sideFiles.member(path) else {
      context.remark("ClinicalRecord whose file is missing")
      return nil
    }
    do {
      let bytes = try context.sideFiles.content(of: member, limit: ClinicalResource.maximumBytes)
      let (resource, isJSON) = ClinicalResource.read(bytes)
      if !isJSON { context.remark("\(member.name): it is no JSON", .nowhere) }
      return resource
    } catch {
      context.remark("\(member.name): \(SideFiles.reason(error))", .nowhere)
      return nil
    }
  }

  // MARK: Writing

  func write(_ sample: Sample, related: [Sample], to writer: inout AppleExportWriter) -> Bool {
    var kept = KeptMetadata(sample.metadata, writer.text)
    writer.output.start(Self.elementName)
    writer.output.attribute("type", sample.type.rawValue)
    writer.output.attribute("identifier", identifier)
    writer.source(of: sample)
    writer.output.attribute("sourceURL", sourceURL)
    writer.output.attribute("fhirVersion", fhirVersion)
    let date = received.map { writer.text.date($0) }
    let start = writer.text.date(sample.start)
    let unread = kept.take(attribute: "receivedDate")
    writer.output.attribute("receivedDate", unread ?? date ?? start)
    writer.output.attribute("resourceFilePath", path)
    writer.dates(of: sample, &kept, hasStart: unread != nil || date.map { $0 != start } == true)
    writer.attributes(&kept)
    writer.entries(&kept)
    writer.finish(&kept)
    return true
  }
}

/// A namespace for reading and writing the file of a clinical record's FHIR resource.
package enum ClinicalResource {
  static let maximumBytes: Int64 = 4 << 20
  /// The limits of a resource. The depth is far beyond any resource, and below the limit of JSON decoders, which is
  /// 512.
  private static let budget = JSONBudget(bytes: Int(maximumBytes), weight: JSONBudget.payload.weight, depth: 100)

  /// Returns the content of a file that is read as `resource`.
  package static func file(_ resource: JSONValue) throws -> [UInt8] {
    if case .string(let text) = resource {
      // Most texts are files that were not JSON.
      let plain = Array(text.utf8)
      if read(plain).resource == resource { return plain }
    }
    return Array(try CanonicalJSON.encode(resource).utf8)
  }

  /// Reads the content of a file.
  ///
  /// - Returns: the resource, and whether it is JSON. Content that is not JSON, or is too large for a payload, is
  ///   kept as text.
  static func read(_ bytes: [UInt8]) -> (resource: JSONValue, isJSON: Bool) {
    if bytes.withUnsafeBytes({ budget.verdict(on: $0) }) == .fits,
      let value = try? JSONDecoder().decode(JSONValue.self, from: Data(bytes))
    {
      return (value, true)
    }
    return (.string(String(decoding: bytes, as: UTF8.self)), false)
  }
}
