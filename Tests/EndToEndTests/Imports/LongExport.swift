import BenchData
import Foundation
import Testing

/// An export of several batches, with everything in it that Apple's have, and what an undisturbed import makes of it.
struct LongExport: Sendable {
  /// A batch has 50,000 samples.
  static let records = 120_000

  /// `export.zip` and its XML alone.
  let zip: String
  let xml: String
  let samples: Int
  let digest: String
  private let scratch: Scratch

  /// Made once for all tests.
  static let made = Task { try await LongExport() }

  private init() async throws {
    scratch = try Scratch()
    (zip, xml) = (scratch.path + "/export.zip", scratch.path + "/export.xml")
    var export = MadeExport(records: Self.records)
    export.hasTwins = true
    #expect(try export.write(to: zip).records == export.write(to: xml).records)
    let host = scratch.host("reference")
    let imported = try await host.run("import", zip)
    try #require(imported.status == 0, "\(imported.errors)")
    samples = try await host.sampleCount()
    digest = try await host.deepDigest()
  }
}

extension Host {
  /// What the store holds, down to what each sample says, whatever the order in which it came.
  func deepDigest() async throws -> String {
    let outcome = try await run("digest", "--months", "--deep")
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output
  }

  /// Expects the result of an undisturbed import, a file that is not damaged, and a whole audit log.
  func expectUndisturbed(_ export: LongExport, _ what: String) async throws {
    #expect(try await deepDigest() == export.digest, "\(what): the digest differs")
    #expect(try await sampleCount() == export.samples, "\(what)")
    try await expectIntegrity(what)
  }

  func expectIntegrity(_ what: String) async throws {
    let check = try await RunningCommand(["sqlite3", home + "/store.sqlite", "PRAGMA integrity_check"]).outcome()
    #expect(check.output == "ok\n", "\(what): \(check.output)\(check.errors)")
    let verified = try await run("audit", "verify")
    #expect(verified.status == 0, "\(what): \(verified.errors)")
  }
}
