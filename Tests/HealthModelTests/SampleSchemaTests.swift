import Foundation
import HealthModel
import TestSupport
import Testing

/// Tests against docs/reference/schemas, which define the JSON output of all commands.
@Suite("Schemas") struct SampleSchemaTests {
  private static let directory = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "docs/reference/schemas").path

  @Test func schemasAreStrict() throws {
    let schemas = try JSONSchema(directory: Self.directory)
    #expect(schemas.names.contains("sample.json"))
    for name in schemas.names { #expect(try schemas.problems(in: name) == []) }
  }

  @Test func samplesOfAllKindsAreAsTheSchemaSays() throws {
    let schemas = try JSONSchema(directory: Self.directory)
    var maker = SampleMaker(seed: 12)
    let samples = (SampleMaker.edgeCases + maker.samples(300)).filter { !isOfAnotherVersion($0) }
    #expect(Set(samples.map(\.payload.kind)).count >= 10)
    for sample in samples {
      let text = String(decoding: try JSONEncoder().encode(sample), as: UTF8.self)
      #expect(try schemas.violations(of: text, against: "sample.json") == [], "\(text.prefix(2000))")
    }
  }

  /// Returns whether a sample's kind is known but its payload isn't.
  private func isOfAnotherVersion(_ sample: Sample) -> Bool {
    guard case .unknown(let kind, let content) = sample.payload else { return false }
    return Payload.foreign(kind, content).kind != kind
  }

  @Test(arguments: [
    (#"{"kind":"quantity","#, #"{"kind":"category","#), (#""unit":"m""#, #""unit":1"#),
    (#""unit":"m""#, #""Unit":"m""#),
    (#""start":"2024"#, #""start":"24"#), (#""value":1"#, #""value":"many""#), (#""source":"#, #""origin":"#),
    (#"{"kind""#, #"{"more":1,"kind""#),
  ])
  func whatIsOtherwiseIsFound(_ right: String, _ wrong: String) throws {
    let schemas = try JSONSchema(directory: Self.directory)
    let text = """
      {"kind":"quantity","uuid":"00000000-0000-0000-0000-00000000000A","type":"x","start":"2024-06-15T10:00:00Z",\
      "end":"2024-06-15T10:00:00.000001Z","source":{"name":"phone"},"payload":{"value":1,"unit":"m"}}
      """
    #expect(try schemas.violations(of: text, against: "sample.json") == [])
    #expect(text.contains(right))
    #expect(try schemas.violations(of: text.replacing(right, with: wrong), against: "sample.json") != [])
  }
}
