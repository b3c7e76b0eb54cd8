import Foundation
import HealthModel
import TestSupport
import Testing

@testable import HealthFormats

/// Tests against docs/reference/formats/fhir, which defines the resources.
@Suite struct FHIRSchemaTests {
  private static let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/reference/formats/fhir").path

  @Test func theSchemaIsStrict() throws {
    #expect(try JSONSchema(directory: Self.directory).problems(in: "schema.json") == [])
  }

  @Test func resourcesAreAsTheSchemaSays() throws {
    let schema = try JSONSchema(directory: Self.directory)
    var maker = SampleMaker(seed: 31)
    var text = SampleText()
    _ = try text.write(fhir: SampleMaker.catalogue + SampleMaker.edgeCases + maker.samples(100), .lines)
    for line in text.bytes.split(separator: 0x0A) {
      let line = String(decoding: line, as: UTF8.self)
      #expect(try schema.violations(of: line, against: "schema.json") == [], "\(line.prefix(2000))")
    }
  }

  @Test func theExtensionIsPublishedUnderItsName() throws {
    let data = try Data(contentsOf: URL(filePath: "\(Self.directory)/StructureDefinition-sample.json"))
    #expect(try JSONDecoder().decode(JSONValue.self, from: data)["url"] == .string(FHIRText.sampleExtension))
  }
}
