import HealthModel

/// `ClinicalRecord`. What its payload has no place for becomes metadata.
enum ClinicalRecordReader {
  static func read(_ element: RawElement, into draft: inout Draft, _ context: inout ReadingContext) {
    var record = ClinicalRecord(identifier: draft.attributes.take("identifier") ?? "")
    record.fhirVersion = draft.attributes.take("fhirVersion")
    record.sourceURL = draft.attributes.take("sourceURL")
    record.received = draft.attributes.takeDate("receivedDate", &context.keys) ?? draft.sample.start
    record.path = draft.attributes.take("resourceFilePath")
    record.resource = record.path.flatMap { resource($0, &context) }
    draft.metadata.keep(rest: draft.attributes, of: "ClinicalRecord", &context)
    for child in element.children {
      if child.name == "MetadataEntry" {
        draft.metadata.read(child, &context)
      } else {
        draft.metadata.keep(child, of: "ClinicalRecord", &context)
      }
    }
    if record.resource != nil { draft.kind = .clinicalRecord(withResource: record.identifier) }
    draft.sample.payload = .clinicalRecord(record)
  }

  /// The FHIR resource that a clinical record names; `nil`, and remarked, where it is not to be had.
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
}
