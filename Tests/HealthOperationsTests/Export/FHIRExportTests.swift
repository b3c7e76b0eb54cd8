import Foundation
import HealthFormats
import HealthModel
import HealthOperations
import HealthStore
import TestSupport
import Testing

/// Tests of FHIR exports of every type in the catalogue, checked by independent validators.
@Suite(.serialized) struct FHIRExportTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path
  private static let environment = PythonEnvironment("fhir")
  private static let judges = environment.program("python")
  private static let missing = Comment(rawValue: environment.missing)

  private let folder: TemporaryDirectory
  private let home: TestHome

  init() async throws {
    folder = try TemporaryDirectory(inMemory: true)
    home = try TestHome()
    var writer = SampleJSONWriter(exported: Timestamp(seconds: 0))
    var bytes: [UInt8] = []
    writer.begin(into: &bytes)
    for sample in SampleMaker.catalogue { try writer.append(sample, to: &bytes) }
    writer.end(into: &bytes)
    let path = folder.path("catalogue.json")
    try Data(bytes).write(to: URL(filePath: path))
    _ = try await home.importer(path).run(into: home.store)
  }

  private func export(_ format: ExportFormat, from home: TestHome, _ name: String) async throws -> ExportSummary {
    try await ExportOperation(format, to: .file(path: folder.path(name), replaces: true)).run(from: home.store)
  }

  /// Returns a home's samples, a line each.
  private func samples(of home: TestHome) async throws -> Set<Substring> {
    _ = try await export(.json, from: home, "samples.json")
    let text = try String(contentsOfFile: folder.path("samples.json"), encoding: .utf8)
    return Set(text.split(separator: "\n").dropFirst().map { $0.hasSuffix(",") ? $0.dropLast() : $0 })
  }

  private func judge(_ name: String) throws -> (status: Int32, said: String) {
    let process = Process()
    process.executableURL = URL(filePath: try #require(Self.judges))
    process.arguments = [
      "Tests/Tools/fhir-judge", folder.path(name), "docs/reference/formats/fhir/StructureDefinition-sample.json",
      "Tests/Tools/fhir-codes.tsv",
    ]
    process.currentDirectoryURL = URL(filePath: Self.root)
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, said)
  }

  /// The only exception is a track of positions, which FHIR can't represent.
  @Test(arguments: [ExportFormat.fhirBundle, .fhirLines])
  func everythingComesBack(format: ExportFormat) async throws {
    let summary = try await export(format, from: home, "fhir")
    #expect(summary.omitted == [.workoutRoute: 1])
    let other = try TestHome()
    let result = try await other.importer(folder.path("fhir")).run(into: other.store)
    #expect(result.report.skipped == [:])
    #expect(result.summary.added == summary.written)
    let (before, after) = (try await samples(of: home), try await samples(of: other))
    #expect(before.subtracting(after).allSatisfy { $0.contains("WorkoutRoute") })
    #expect(after.subtracting(before).isEmpty)
    // Members of a blood pressure are inside it only.
    let text = try String(contentsOfFile: folder.path("fhir"), encoding: .utf8)
    #expect(text.components(separatedBy: #""resourceType":"Observation""#).count - 1 < summary.written)
    #expect(try await other.importer(folder.path("fhir")).run(into: other.store).summary.added == 0)
  }

  @Test(
    .enabled(if: judges != nil, missing), .timeLimit(.minutes(5)),
    arguments: [ExportFormat.fhirBundle, .fhirLines])
  func judgesFindNothing(format: ExportFormat) async throws {
    _ = try await export(format, from: home, "fhir")
    let (status, said) = try judge("fhir")
    #expect(status == 0, "\(said)")
    #expect(said.contains(" 0 findings"), "\(said)")
  }

  /// Checks that the validators find errors at all.
  @Test(.enabled(if: judges != nil, missing), .timeLimit(.minutes(5)))
  func judgesFindWhatIsWrong() async throws {
    _ = try await export(.fhirLines, from: home, "fhir")
    let text = try String(contentsOfFile: folder.path("fhir"), encoding: .utf8)
    let vital = text.split(separator: "\n").first { $0.contains(#""8867-4""#) && $0.contains("profile") }
    let rate = String(try #require(vital))
    let wrong: [(String, String)] = [
      (#""status":"final""#, #""status":"finished""#), (#""status":"final","#, ""),
      (#""code":"/min""#, #""code":"bpm/x""#), (#""8867-4""#, #""8867-5""#), (#""valueQuantity":"#, #""valueAmount":"#),
      (#""vital-signs""#, #""vital""#), (#""url":"urn:hpeer:fhir:sample""#, #""url":"urn:hpeer:fhir:other""#),
      (#""effective"#, #""effected"#), (#""code":"/min""#, #""code":"/h""#),
    ]
    let id = String(try #require(rate.firstMatch(of: /"id":"([-0-9a-f]+)"/)?.1))
    var lines = [rate]
    for (index, (right, wrong)) in wrong.enumerated() {
      #expect(rate.contains(right))
      lines.append(rate.replacing(right, with: wrong).replacing(id, with: "0000000\(index)\(id.dropFirst(8))"))
    }
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: folder.path("wrong")))
    let said = try judge("wrong").said
    for (index, (_, wrong)) in wrong.enumerated() { #expect(said.contains("Observation/0000000\(index)"), "\(wrong)") }
  }

  @Test func theSubjectMayBeElsewhere() async throws {
    let path = folder.path("fhir")
    let operation = ExportOperation(
      .fhirLines, to: .file(path: path, replaces: true),
      options: .with { $0.fhir = FHIROptions(subject: "Patient/123") })
    _ = try await operation.run(from: home.store)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(!text.contains(#""resourceType":"Patient""#))
    #expect(text.contains(#""subject":{"reference":"Patient/123"}"#))
  }
}
