import Foundation
import Testing

@testable import HealthFormats

/// Tests that rewrite third-party sample files, if there are any (see ``FixtureTests``), and look for losses.
@Suite struct RewrittenFixtureTests {
  private static let files: [String] = {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let folder =
      ProcessInfo.processInfo.environment["HPEER_FIXTURES"]
      ?? root.deletingLastPathComponent().appendingPathComponent("shared/data/fixtures").path
    return ["real", "synthetic"].flatMap { part in
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(part)")) ?? []
      return names.filter { $0.hasSuffix(".xml") }.map { "\(folder)/\(part)/\($0)" }
    }.sorted()
  }()

  @Test(.enabled(if: !files.isEmpty, "no sample files: set HPEER_FIXTURES to their folder"), arguments: files)
  func nothingIsMissing(file: String) throws {
    let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: file)))
    let reading = try Reading(bytes: bytes)
    let written = RewrittenExport(reading)
    let (original, rewritten) = (AppleXML(String(decoding: bytes, as: UTF8.self)), AppleXML(written.text))
    let lacking = missing(original.elements(), from: rewritten.elements())
    // The elements that the document type has no place for and that no sample could keep.
    let reasons = [" without a ", "unreadable", "Me/"]
    let skipped = reading.report.skipped.filter { finding in reasons.contains { finding.key.contains($0) } }
    let allowed = skipped.values.reduce(0) { $0 + $1.count }
    #expect(lacking.count <= allowed, "\(lacking.prefix(3)) \(reading.report.skipped) \(reading.report.remarks)")
    #expect(original.routes == rewritten.routes)
    #expect(written.omitted == 0)
  }
}
