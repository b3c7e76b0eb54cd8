import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

/// Tests of the life cycle of a destination at the terminal.
@Suite(.timeLimit(.minutes(5)))
struct DestinationCommandTests {
  private let sampled: SampledHome
  private var scratch: Scratch { sampled.scratch }
  private var home: Host { sampled.host }
  private var config: String { home.home + "/config.toml" }

  init() async throws { sampled = try await SampledHome() }

  private func run(_ arguments: String..., status: Int32 = 0) async throws -> Outcome {
    try await sampled.run(arguments, status: status)
  }

  private func expect(_ outcome: Outcome, is name: String, lines: Int = 1) throws {
    try sampled.expect(outcome, is: name, lines: lines)
  }

  private func states() async throws -> [[String: Any]] {
    let outcome = try await home.start(["destination", "list", "--json"]).outcome()
    try expect(outcome, is: "destinations.json")
    return try #require(try outcome.json()["destinations"] as? [[String: Any]])
  }

  @Test("added, delivered to, paused, failing, delivered to again and removed; what a person wrote stays as it was")
  func life() async throws {
    let out = scratch.path + "/out"
    let script = "cat >> \(out); test ! -e \(out).down || { echo down >&2; exit 77; }"
    try expect(try await run("destination", "kinds", "--json"), is: "destination-kinds.json")
    let mine = "# Mine.\n\n[destination.off] # not now\nkind = 'folder'\npath = '/nowhere'\nenabled = false"
    try Data(mine.utf8).write(to: URL(filePath: config))

    // A script with commas would be a list of its own.
    try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(filePath: out + ".sh"))
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: out + ".sh")
    _ = try await run(
      "destination", "add", "command", "keep", "--set", "command=\(out).sh", "--set", "batch=20", "--set",
      "environment.A=b")
    #expect(try String(contentsOfFile: config, encoding: .utf8).hasPrefix(mine + "\n\n[destination.keep]\n"))

    let synced = try await run("sync", "--json")
    try expect(synced, is: "sync.json")
    #expect(try synced.json()["delivered"] as? Int == 50)
    #expect(try String(contentsOfFile: out, encoding: .utf8).split(separator: "\n").count == 50)
    #expect(try await run("sync").output == "keep: nothing new\n")
    #expect(try await states().map { $0["state"] as? String } == ["up to date", "disabled"])

    _ = try await run("destination", "resync", "keep", "--from", "2024-01-01T00:30", "--utc")
    #expect(try await states().map { $0["state"] as? String } == ["behind", "disabled"])
    #expect(try await run("sync").output == "keep: 20 changes delivered\n")
    _ = try await run("destination", "resync", "keep")
    #expect(try await run("sync").output == "keep: 50 changes delivered\n")

    _ = try await run("destination", "pause", "keep")
    #expect(try await run("sync").output == "")
    #expect(try await run("sync", "keep", status: 1).output.hasPrefix("keep is paused: "))
    #expect(try await states().map { $0["state"] as? String } == ["paused", "disabled"])
    _ = try await run("destination", "resume", "keep")

    try Data().write(to: URL(filePath: out + ".down"))
    _ = try await run("destination", "test", "keep", status: 4)
    _ = try await run("destination", "resync", "keep")
    let failed = try await run("sync", status: 4)
    #expect(failed.output.hasPrefix("keep takes nothing (") && failed.output.contains("down"), "\(failed.output)")
    let status = try await run("destination", "status", "keep", "--json", status: 5)
    try expect(status, is: "destinations.json")
    try FileManager.default.removeItem(atPath: out + ".down")
    _ = try await run("destination", "test", "keep")
    #expect(try await run("sync").output == "keep: 50 changes delivered\n")

    let history = try await run("destination", "history", "keep", "--json")
    #expect(history.output.contains("delivery.failed") && history.output.contains("resynced"))
    _ = try await run("destination", "remove", "keep")
    #expect(try String(contentsOfFile: config, encoding: .utf8).trimmingCharacters(in: .newlines) == mine)
    #expect(try await states().map { $0["name"] as? String } == ["off"])
    #expect(try await HealthStore(directory: home.home).consumers().isEmpty)
  }

  @Test("what is delivered is counted on the terminal while it is, and a line says what became of each")
  func progress() async throws {
    try Data(
      "[destination.keep]\nkind = \"command\"\ncommand = [\"/bin/sh\", \"-c\", \"cat > /dev/null\"]\nbatch = 10\n".utf8
    ).write(to: URL(filePath: config))
    let terminal = try PseudoTerminal(["HPEER_HOME=\(home.home)", Build.hpeer, "sync"])
    try await terminal.text(matching: #/keep: 50 changes delivered/#)
    // Painted over, and gone before the line.
    #expect(terminal.text.contains(#/keep[^\r\n:]* [1-5]0 /#), "\(terminal.text)")
    #expect(terminal.lines.contains { $0.hasSuffix("keep: 50 changes delivered") })
  }

  @Test("what a destination refuses is listed, and delivered again when it is taken")
  func refused() async throws {
    let out = scratch.path + "/out"
    let script =
      "#!/bin/sh\ncat > \(out).new\nif [ -e \(out).strict ] && grep -q 00:07:00 \(out).new; then exit 65; fi\ncat \(out).new >> \(out)\n"
    try Data(script.utf8).write(to: URL(filePath: out + ".sh"))
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: out + ".sh")
    try Data().write(to: URL(filePath: out + ".strict"))
    _ = try await run("destination", "add", "command", "--set", "command=\(out).sh")
    let first = try await home.start(["sync"]).outcome()
    #expect(first.status == 12 && first.output.hasPrefix("command: 48 changes delivered, 2 refused"))
    #expect(try await run("sync").output == "command: nothing new\n")
    try expect(try await run("destination", "rejected", "command", "--json"), is: "destination-rejected.json", lines: 2)
    _ = try await run("destination", "retry", "command")
    try FileManager.default.removeItem(atPath: out + ".strict")
    _ = try await run("destination", "retry", "command")
    #expect(try await run("destination", "rejected", "command", "--json").output == "")
    #expect(try await run("destination", "retry", "command").errors == "command has refused nothing.\n")
    #expect(try String(contentsOfFile: out, encoding: .utf8).split(separator: "\n").count == 50)
  }

  @Test("a secret is asked for once all else makes sense, and no sooner")
  func secretsLast() async throws {
    let add = ["HPEER_HOME=\(home.home)", Build.hpeer, "destination", "add", "mqtt", "--no-test"]
    let hasty = try PseudoTerminal(add)
    try await hasty.text(matching: #/url: /#)
    hasty.type("mqtt://broker.example\n")
    try await hasty.text(matching: #/person \[me\]: /#)
    hasty.type("\n")
    try await hasty.text(matching: #/url is mqtt:/#)
    try await eventually("the url is asked for again") { hasty.text.matches(of: #/url: /#).count > 1 ? true : nil }
    #expect(!hasty.text.contains("password"))
    hasty.type("\u{3}")
    #expect(try await hasty.exitStatus() == 130)
    #expect(!FileManager.default.fileExists(atPath: config))

    let patient = try PseudoTerminal(add + ["--set", "url=mqtts://broker.example"])
    try await patient.text(matching: #/person \[me\]: /#)
    patient.type("ada\n")
    try await patient.text(matching: #/password \(none: Enter\): /#)
    patient.type("s3cret\n")
    #expect(try await patient.exitStatus() == 0)
    let kept = home.home + "/secrets/mqtt.password"
    #expect(try String(contentsOfFile: kept, encoding: .utf8) == "s3cret\n")
    #expect(try String(contentsOfFile: config, encoding: .utf8).contains("password = \"file:\(kept)\""))
  }

  @Test("the secret of a destination is removed with it, also where something in the settings is wrong")
  func removedWithSecret() async throws {
    let secrets = home.home + "/secrets"
    try FileManager.default.createDirectory(atPath: secrets, withIntermediateDirectories: true)
    for name in ["a-password", "b-password"] {
      try Data("s3cret\n".utf8).write(to: URL(filePath: "\(secrets)/\(name)"))
    }
    func section(_ name: String) -> String {
      "[destination.\(name)]\nkind = \"mqtt\"\nurl = \"mqtts://broker.example\"\n"
        + "password = \"file:\(secrets)/\(name)-password\"\n"
    }
    try Data((section("a") + "person = \"a/b\"\n\n" + section("b")).utf8).write(to: URL(filePath: config))
    #expect(try await run("config", "check", status: 2).errors.contains("config.toml:5: destination.a.person"))
    _ = try await run("destination", "remove", "a")
    #expect(try FileManager.default.contentsOfDirectory(atPath: secrets) == ["b-password"])
    #expect(try String(contentsOfFile: config, encoding: .utf8) == section("b"))
  }

  @Test(
    "settings that a kind refuses are not listed for it",
    arguments: [("mqtt", ["units"]), ("caldav", []), ("folder", ["data", "units"])])
  func kinds(_ kind: String, _ keys: [String]) async throws {
    for outcome in [
      try await run("destination", "kinds", kind), try await run("destination", "kinds", kind, "--json"),
    ] {
      for key in ["data", "units"] {
        let isListed = outcome.output.contains("\n\(key) ") || outcome.output.contains("\"key\":\"\(key)\"")
        #expect(isListed == keys.contains(key), "\(outcome.output)")
      }
    }
  }

  @Test("mistakes are said with their place, and what does not work is not added")
  func mistakes() async throws {
    #expect(try await run("destination", "add", "foldr", status: 2).errors.contains("did you mean folder?"))
    #expect(try await run("destination", "add", "folder", status: 2).errors.contains("--set path="))
    let missing = try await run("destination", "add", "folder", "--set", "path=/nowhere/at/all", status: 5)
    #expect(missing.errors.contains("Nothing was added") && missing.errors.contains("/nowhere/at/all"))
    // What was given is at no line of the file, which is not even there.
    for (url, mistake) in [
      ("nowhere", "url is not a URL,"), ("http://192.0.2.1/x", "url is http:// to another machine,"),
    ] {
      let wrong = try await run("destination", "add", "webhook", "--set", "url=\(url)", status: 2)
      #expect(wrong.errors.hasPrefix("Error: \(mistake)"), "\(wrong.errors)")
    }
    #expect(!FileManager.default.fileExists(atPath: config))
    for command in ["test", "history", "remove"] {
      #expect(try await run("destination", command, "none", status: 2).errors.contains("no destination called none"))
    }
    try Data("[destination.a]\nkind = \"folder\"\npaht = \"x\"\n".utf8).write(to: URL(filePath: config))
    let wrong = try await run("sync", status: 2)
    #expect(wrong.errors.contains("config.toml:3: destination.a.paht") && wrong.errors.contains("did you mean path?"))
  }
}
