import Foundation
import Testing

/// Tests of the parsing of command lines and of the messages for invalid command lines.
@Suite(.timeLimit(.minutes(5)))
struct CommandWordsTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private var home: Host { scratch.host("home") }

  @Test("--home may stand before the command, and counts before HPEER_HOME")
  func homeFirst() async throws {
    let other = scratch.host("other")
    #expect(try await other.run("import", SampleExport.small.path).status == 0)
    let expected = try await other.run("types").output
    for words in [
      ["--home", other.home, "types"], ["--home=\(other.home)", "types"], ["types", "--home", other.home],
    ] {
      let outcome = try await home.start(words).outcome()
      #expect(outcome.status == 0, "\(outcome.errors)")
      #expect(outcome.output == expected)
    }
    #expect(try await home.run("--home", other.home, "audit", "verify").status == 0)
    #expect(try await home.run("--home", other.home, "audit", "--json").status == 0)
    // The later one counts, as with any option.
    #expect(try await home.run("--home", home.home, "types", "--home", other.home).output == expected)
    #expect(!FileManager.default.fileExists(atPath: home.home))
  }

  @Test(
    "what a running command finds wrong with its arguments comes with the usage of that command, not of all",
    arguments: [
      (["destination", "add", "foldr"], "hpeer destination add"), (["automation", "add", "x"], "hpeer automation add"),
      (["sync", "nowhere"], "hpeer sync"),
    ])
  func usageOfTheCommand(_ words: [String], _ command: String) async throws {
    let outcome = try await home.start(words).outcome()
    #expect(outcome.status == 2)
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines.count == 3 && lines[0].hasPrefix("Error: "), "\(outcome.errors)")
    #expect(lines.contains { $0.hasPrefix("Usage: \(command) [--home <home>]") }, "\(outcome.errors)")
    #expect(lines.contains("  See '\(command) --help' for more information."), "\(outcome.errors)")
  }

  @Test("a type is named by its words, without quotes")
  func typesOfSeveralWords() async throws {
    #expect(try await home.run("import", SampleExport.small.path).status == 0)
    let quoted = try await home.run("stats", "heartRate", "restingHeartRate", "--by", "month", "--csv")
    #expect(quoted.status == 0, "\(quoted.errors)")
    let spoken = try await home.run("stats", "heart", "rate", "resting", "heart", "rate", "by", "month", "--csv")
    #expect(spoken.status == 0 && spoken.output == quoted.output, "\(spoken.errors)")
    #expect(try await home.run("show", "resting", "hart").errors.contains("There is no type called resting"))
  }

  @Test("a type of a newer iOS is found by its short name; a short name of two types is refused with both")
  func typesOfTomorrow() async throws {
    let identifiers = [
      "HKQuantityTypeIdentifierBrandNewThing", "HKQuantityTypeIdentifierTwice", "HKCategoryTypeIdentifierTwice",
    ]
    let records = identifiers.map { type in
      "<Record type=\"\(type)\" sourceName=\"Watch\" unit=\"mg\" value=\"7\" startDate=\"2024-06-19 07:00:00 +0200\" "
        + "endDate=\"2024-06-19 07:10:00 +0200\"/>"
    }
    let path = scratch.path + "/export.xml"
    let export = "<HealthData><ExportDate value=\"2024-06-20 12:00:00 +0200\"/>\(records.joined())</HealthData>"
    try export.write(toFile: path, atomically: true, encoding: .utf8)
    let imported = try await home.run("import", path)
    #expect(imported.status == 0, "\(imported.errors)")
    let found = try await home.run("stats", "BrandNewThing", "--csv")
    #expect(found.status == 0 && found.output.contains("HKQuantityTypeIdentifierBrandNewThing,mg"), "\(found.errors)")
    #expect(try await home.run("latest", "brandnewthing").output.contains("7 mg"))
    let refused = try await home.run("stats", "twice")
    #expect(refused.status == 2)
    #expect(identifiers.dropFirst().allSatisfy(refused.errors.contains), "\(refused.errors)")
  }

  @Test("-h says what a command takes, --help explains it", arguments: [["workout"], ["destination", "add"]])
  func shortHelp(_ command: [String]) async throws {
    let (short, long) = (
      try await home.start(command + ["-h"]).outcome(), try await home.start(command + ["--help"]).outcome()
    )
    #expect(short.status == 0 && long.status == 0, "\(short.errors)")
    #expect(short.output.contains("USAGE: hpeer \(command.joined(separator: " "))"))
    #expect(!short.output.contains("Examples:") && long.output.contains("Examples:"))
    #expect(short.output.utf8.count < long.output.utf8.count)
  }

  @Test("--home before a wish for help, and without a folder")
  func homeAndHelp() async throws {
    let help = try await home.run("--home", home.home, "help", "types")
    #expect(help.status == 0, "\(help.errors)")
    #expect(try await help.output == home.run("help", "types").output)
    let ofHelp = try await home.run("help", "help")
    #expect(ofHelp.status == 0, "\(ofHelp.errors)")
    #expect(try await ofHelp.output == home.run("help").output)
    let unknown = try await home.run("--home", home.home, "help", "foo")
    #expect(unknown.status == 2 && unknown.errors.contains("`hpeer foo`"), "\(unknown.errors)")
    let bare = try await home.run("--home")
    #expect(bare.status == 2 && bare.errors.contains("--home takes a folder"), "\(bare.errors)")
  }

  @Test("another option before the command: where it belongs")
  func optionFirst() async throws {
    let outcome = try await home.run("--json", "types")
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("`hpeer types --json`"), "\(outcome.errors)")
  }

  @Test(
    "an unknown command ends with code 2 and names the one that is meant",
    arguments: [
      (["pul"], "`hpeer pull`"), (["help", "foo"], "`hpeer help`"), (["help", "pul"], "`hpeer pull`"),
      (["audit", "verfy"], "`hpeer audit verify`"), (["help", "audit", "prume"], "`hpeer audit prune`"),
      (["help", "pull", "studio"], "`hpeer help pull`"), (["nonsense"], "`hpeer help`"),
      (["tipes", "--json"], "`hpeer types`"),
      (["destination", "sync", "home"], "did you mean `hpeer sync` or `hpeer destination resync`?"),
    ])
  func unknown(_ words: [String], _ hint: String) async throws {
    let outcome = try await home.start(words).outcome()
    #expect(outcome.status == 2)
    if words.contains("--json") {
      let error = try #require(outcome.json()["error"] as? [String: Any])
      #expect(error["kind"] as? String == "usage")
    } else {
      #expect(outcome.output.isEmpty)
    }
    #expect(outcome.errors.contains(hint), "\(outcome.errors)")
    #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
  }

  @Test(
    "what the parser answers itself",
    arguments: [
      [], ["help"], ["--help"], ["-h"], ["--version"], ["help", "audit"], ["help", "audit", "verify"],
      ["pull", "--help"],
      ["help", "--help"], ["--generate-completion-script", "bash"], ["--home", "/nowhere"],
    ])
  func answered(_ words: [String]) async throws {
    let outcome = try await home.start(words).outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(!outcome.output.isEmpty)
  }

  @Test("older spellings are understood and not shown")
  func olderSpellings() async throws {
    for command in ["show", "export", "delete", "audit", "serve", "pair", "pull"] {
      let help = try await home.run("help", command).output
      for name in ["--since", "--until", "--type "] { #expect(!help.contains(name), "\(command) \(name)") }
    }
    #expect(try await home.run("import", SampleExport.small.path).status == 0)
    let older = ["export", "--type", "stepCount", "--since", "2000-01-01", "--until", "2100-01-01"]
    let newer = ["export", "--types", "stepCount", "--from", "2000-01-01", "--to", "2100-01-01"]
    let lines = try await home.start(older).outcome().output.split(separator: "\n").dropFirst()
    #expect(lines.count > 10)
    #expect(try await home.start(newer).outcome().output.split(separator: "\n").dropFirst() == lines)
  }
}
