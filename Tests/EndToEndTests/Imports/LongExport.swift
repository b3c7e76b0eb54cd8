import BenchData
import Foundation
import HealthStore
import Testing

/// An export of several batches with everything that Apple's exports contain, and the result of an undisturbed
/// import.
struct LongExport: Sendable {
  /// The number of records. A batch has 50,000 samples.
  static let records = 120_000

  /// The path of `export.zip`. `xml` is the path of its XML alone.
  let zip: String
  let xml: String
  let samples: Int
  let digest: String
  /// The digest's content, without deletions.
  let contents: [String]

  /// The export shared by all tests.
  static let made = Task { try await LongExport() }

  private struct Imported: Codable {
    var samples: Int
    var digest: String
    var contents: [String]
  }

  private init() async throws {
    let directory = try await Made.once("long-export") { path in
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      var export = MadeExport(records: Self.records)
      export.hasTwins = true
      #expect(try export.write(to: path + "/export.zip").records == export.write(to: path + "/export.xml").records)
      let scratch = try Scratch()
      let host = scratch.host("reference")
      let outcome = try await host.run("import", path + "/export.zip")
      try #require(outcome.status == 0, "\(outcome.errors)")
      let imported = Imported(
        samples: try await host.sampleCount(), digest: try await host.deepDigest(),
        contents: try await host.deepContents())
      try JSONEncoder().encode(imported).write(to: URL(fileURLWithPath: path + "/imported.json"))
    }
    (zip, xml) = (directory + "/export.zip", directory + "/export.xml")
    let imported = try JSONDecoder().decode(
      Imported.self, from: try Data(contentsOf: URL(fileURLWithPath: directory + "/imported.json")))
    (samples, digest, contents) = (imported.samples, imported.digest, imported.contents)
  }
}

extension Host {
  /// Returns a digest of everything in the store, including the content of each sample, independent of their order.
  func deepDigest() async throws -> String {
    let outcome = try await run("digest", "--months", "--deep")
    #expect(outcome.status == 0, "\(outcome.errors)")
    return outcome.output
  }

  /// Returns the digests of the existing samples, without regard to deletions.
  func deepContents() async throws -> [String] {
    try await HealthStore(directory: home, create: false).digests.deep().record.types.flatMap { type in
      type.months.filter { $0.samples.count > 0 }.map {
        "\(type.type.rawValue) \($0.month) \($0.samples.hex) \($0.contents ?? 0)"
      }
    }
  }

  /// Expects the result of an undisturbed import, an undamaged store and an intact audit log.
  func expectUndisturbed(_ export: LongExport, _ what: String) async throws {
    #expect(try await deepDigest() == export.digest, "\(what): the digest differs")
    #expect(try await sampleCount() == export.samples, "\(what)")
    try await expectIntegrity(what)
  }

  /// Expects the same samples after an import of the XML and then of the zip file. Samples whose files were missing
  /// in the XML were replaced and have tombstones.
  func expectSameSamples(as export: LongExport, _ what: String) async throws {
    #expect(try await deepContents() == export.contents, "\(what): the contents differ")
    #expect(try await sampleCount() == export.samples, "\(what)")
    try await expectIntegrity(what)
  }
}
