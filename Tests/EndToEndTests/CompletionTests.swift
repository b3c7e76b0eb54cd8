import Foundation
import Testing

/// Tests of shell completion, requested as the shells' scripts do.
@Suite(.timeLimit(.minutes(5)))
struct CompletionTests {
  private let scratch: Scratch
  private var home: Host { scratch.host("home") }

  init() throws { scratch = try Scratch() }

  /// Returns the completions for the last word.
  private func offered(_ command: [String], _ argument: String, _ words: [String]) async throws -> [String] {
    let words = ["hpeer"] + words
    let last = words.last ?? ""
    let outcome = try await home.start(
      ["---completion"] + command + ["--", argument, "\(words.count - 1)", "\(last.count)"] + words,
      environment: ["SAP_SHELL": "bash"]
    ).outcome()
    #expect(outcome.status == 0)
    #expect(outcome.errors.isEmpty, "\(outcome.errors)")
    return outcome.output.split(separator: "\n").map(String.init)
  }

  @Test("types and sources of the store are offered, after a comma those that are not named yet")
  func record() async throws {
    #expect(try await home.run("import", SampleExport.small.path).status == 0)
    let types = try await offered(["stats"], "positional@0", ["stats", ""])
    #expect(types.contains("stepCount") && types.contains("heartRate"))
    let more = try await offered(["show"], "--types", ["show", "--types", "stepCount,h"])
    #expect(more.contains("stepCount,heartRate") && !more.contains("stepCount,stepCount"))
    #expect(!(try await offered(["show"], "--source", ["show", "--source", ""])).isEmpty)
  }

  @Test("destinations of the settings are offered, also of another home")
  func destinations() async throws {
    try FileManager.default.createDirectory(atPath: home.home, withIntermediateDirectories: true)
    let settings = "[destination.nas]\nkind = \"folder\"\npath = \"/tmp\"\n"
    try Data(settings.utf8).write(to: URL(filePath: home.home + "/config.toml"))
    #expect(try await offered(["sync"], "positional@0", ["sync", ""]) == ["nas"])
    let other = scratch.path + "/other"
    #expect(try await offered(["sync"], "positional@0", ["sync", "--home", other, ""]).isEmpty)
  }

  @Test("nothing is offered, said or made where there is no home or a damaged one")
  func nothing() async throws {
    #expect(try await offered(["pull"], "positional@0", ["pull", ""]).isEmpty)
    #expect(!FileManager.default.fileExists(atPath: home.home))
    try FileManager.default.createDirectory(atPath: home.home, withIntermediateDirectories: true)
    for file in ["store.sqlite", "peers.sqlite", "config.toml"] {
      try Data("[[[ not what it should be".utf8).write(to: URL(filePath: home.home + "/" + file))
    }
    #expect(try await offered(["pull"], "positional@0", ["pull", ""]).isEmpty)
    #expect(try await offered(["sync"], "positional@0", ["sync", ""]).isEmpty)
    #expect(try await offered(["show"], "--source", ["show", "--source", ""]).isEmpty)
  }
}
