import HealthFormats
import HealthModel
import HealthStore

/// The FHIR options that a store cannot provide.
public struct FHIROptions: Hashable, Sendable {
  /// A reference to the patient, such as `Patient/123`; `nil` for a `Patient` in the file, with the store's ID.
  public var subject: String?
  /// The map from types to codes.
  public var map: FHIRMap

  /// Creates options.
  ///
  /// - Parameter subject: must satisfy `FHIRWriter.isReference(_:)`.
  public init(subject: String? = nil, map: FHIRMap = .standard) {
    (self.subject, self.map) = (subject, map)
  }

  func writer(_ form: FHIRWriter.Form, exported: Timestamp, of store: HealthStore) -> FHIRWriter {
    FHIRWriter(
      form, exported: exported, subject: subject.map(FHIRWriter.Subject.reference) ?? .patient(store.id), map: map)
  }
}

extension ExportFormat {
  /// A bundle of FHIR R4 resources, in JSON.
  public static let fhirBundle = fhir("fhir", suffix: "json", .bundle)
  /// FHIR R4 resources, one per line, as in Bulk Data.
  public static let fhirLines = fhir("fhir-ndjson", suffix: "ndjson", .lines)

  private static func fhir(_ name: String, suffix: String, _ form: FHIRWriter.Form) -> ExportFormat {
    ExportFormat(name, suffix: suffix, lack: "FHIR has no place", takes: .fhir) { exporting, content in
      try await exporting.writeResources(
        content.options.fhir.writer(form, exported: content.exported, of: exporting.reader.store))
    }
  }
}

extension Exporting {
  /// Writes the patient, then the samples by type. The members of blood pressures are written with these.
  fileprivate func writeResources(_ writer: FHIRWriter) async throws -> ExportSummary {
    try await writing {
      var writer = writer
      var summary = ExportSummary()
      var bytes: [UInt8] = []
      var readings = PersonReadings()
      for trait in Person.Trait.allCases where plan.types.contains(trait.type) {
        try await reader.pages(of: trait.type) { page in page.forEach { readings.add($0) } }
      }
      writer.begin(person: readings.person, into: &bytes)
      if plan.types.contains(where: FHIRWriter.pressures.contains) {
        for type in plan.types where type == FHIRWriter.bloodPressure {
          try await reader.pages(of: type) { page in page.forEach { writer.expect($0) } }
        }
      }
      for type in plan.types {
        try await reader.codedPages(of: type) { changes in
          try await append(changes, of: type, with: &writer, to: &bytes, &summary)
          try await flush(&bytes)
          stage.advance(items: changes.samples.count, bytes: 0)
        }
      }
      writer.end(into: &bytes)
      try await flush(&bytes)
      return summary
    }
  }

  private func append(
    _ changes: CodedChanges, of type: SampleType, with writer: inout FHIRWriter, to bytes: inout [UInt8],
    _ summary: inout ExportSummary
  ) async throws {
    do {
      let page = try writer.append(changes, to: &bytes)
      summary.written += page.written
      var omitted = page.omitted
      for correlation in page.correlations {
        if try writer.append(correlation, members: try await reader.members(of: correlation), to: &bytes) {
          summary.written += 1
        } else {
          omitted += 1
        }
      }
      if omitted > 0 { summary.omitted[type, default: 0] += omitted }
    } catch let error as DecodingError {
      throw reader.store.damage(error)
    }
  }
}
