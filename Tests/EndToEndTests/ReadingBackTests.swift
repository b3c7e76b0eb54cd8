import Foundation
import Testing

/// Tests of the import of a destination's files by the destination's name in config.toml.
@Suite(.timeLimit(.minutes(5)))
struct ReadingBackTests {
  @Test("a folder, by the destination's name: everything is there already, and in another home all of it is new")
  func folder() async throws {
    let sampled = try await SampledHome()
    let shelf = sampled.scratch.path + "/shelf"
    try FileManager.default.createDirectory(atPath: shelf, withIntermediateDirectories: false)
    let add = ["destination", "add", "folder", "shelf", "--set", "path=\(shelf)", "--set", "prefix=of/ada"]
    _ = try await sampled.run(add, status: 0)
    _ = try await sampled.run(["sync"], status: 0)

    let other = sampled.scratch.host("other")
    #expect(try await other.start(add + ["--no-test"]).outcome().status == 0)
    let imported = try await other.run("import", "destination:shelf", "--json")
    #expect(imported.status == 0, "\(imported.errors)")
    let types = try await other.run("types")
    #expect(types.output == (try await sampled.host.run("types")).output)
    // Its settings say nothing of that one.
    let unknown = try await other.run("import", "destination:shelv")
    #expect(unknown.status == 65 && unknown.errors.contains("did you mean shelf?"), "\(unknown.errors)")
  }

  @Test("what an empty store is exported to is imported: nothing", arguments: ["json", "ndjson", "csv", "apple-xml"])
  func empty(format: String) async throws {
    let scratch = try Scratch()
    let (home, other) = (scratch.host("home"), scratch.host("other"))
    // Its store is made, and has had nothing.
    #expect(try await home.run("lock").status == 0)
    let path = "\(scratch.path)/empty.\(format == "apple-xml" ? "xml" : format)"
    let exported = try await home.run("export", "--format", format, "--output", path)
    #expect(exported.status == 0, "\(exported.errors)")
    let imported = try await other.run("import", path)
    #expect(imported.status == 0, "\(imported.errors)")
    #expect(try await other.sampleCount() == 0)
  }
}
