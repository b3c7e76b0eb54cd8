import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

/// Tests of the life cycle of automations at the terminal, and of their part in `hpeer status`.
@Suite(.timeLimit(.minutes(5)))
struct AutomationCommandTests {
  private let sampled: SampledHome
  private var scratch: Scratch { sampled.scratch }
  private var home: Host { sampled.host }
  private var out: String { scratch.path + "/out" }

  init() async throws {
    sampled = try await SampledHome()
    try sampled.script(out + ".sh", "#!/bin/sh\ncat >> \(out)\n")
  }

  @discardableResult
  private func run(_ arguments: String..., status: Int32 = 0) async throws -> Outcome {
    try await sampled.run(arguments, status: status)
  }

  private func expect(_ outcome: Outcome, is name: String, lines: Int = 1) throws {
    try sampled.expect(outcome, is: name, lines: lines)
  }

  private var kept: Int {
    ((try? String(contentsOfFile: out, encoding: .utf8)) ?? "").split(separator: "\n").count
  }

  @Test("a destination that an automation delivers to stays until the automation goes")
  func destinationInUse() async throws {
    try await run("destination", "add", "command", "keep", "--set", "command=\(out).sh", "--no-test")
    try await run(
      "automation", "add", "nightly", "--when", "time", "--do", "deliver", "--set", "at=03:00", "--set",
      "destinations=keep")
    let refused = try await run("destination", "remove", "keep", status: 4)
    #expect(refused.errors.contains("nightly delivers to keep"), "\(refused.errors)")
    for command in [["status"], ["sync"], ["config", "check"]] {
      let outcome = try await home.start(command).outcome()
      #expect(!outcome.errors.contains("config.toml:"), "\(command): \(outcome.errors)")
    }
    try await run("automation", "remove", "nightly")
    try await run("destination", "remove", "keep")
  }

  @Test("added, done by sync and by hand, paused, failing, told by status, and removed")
  func life() async throws {
    try expect(try await run("automation", "kinds", "--json"), is: "automation-kinds.json")
    try expect(try await run("automation", "list", "--json"), is: "automations.json")
    let missing = try await run("automation", "add", "x", "--when", "interval", "--do", "pull", status: 2)
    #expect(missing.errors.contains("--set every="))
    try await run("automation", "add", "x", "--when", "tim", "--do", "pull", status: 2)
    try await run(
      "automation", "add", "x", "--when", "time", "--do", "deliver", "--set", "at=03:00", "--set", "destinations=none",
      status: 2)
    #expect(!FileManager.default.fileExists(atPath: home.home + "/config.toml"))

    try await run(
      "automation", "add", "keep", "--when", "change", "--do", "command", "--set", "command=\(out).sh")
    try await run(
      "automation", "add", "often", "--when", "interval", "--do", "command", "--set", "every=1h", "--set",
      "command=\(out).sh")
    #expect(try await run("sync").output == "")
    var maker = SampleMaker(seed: 8)
    try await HealthStore(directory: home.home).apply(ChangeBatch(additions: [maker.steps(at: 90)]))
    let synced = try await run("sync", "--json")
    try expect(synced, is: "sync.json")
    #expect(kept == 1)
    try await run("automation", "run", "often")
    #expect(kept == 2)

    let listed = try await run("automation", "list", "--json")
    try expect(listed, is: "automations.json")
    let automations = try #require(try listed.json()["automations"] as? [[String: Any]])
    #expect(automations.map { $0["state"] as? String } == ["waiting", "waiting"])
    #expect(automations.map { $0["runs"] as? Int } == [1, 1])
    #expect(automations[1]["next"] is String)

    try await run("automation", "pause", "keep")
    #expect(try await run("automation", "list").output.contains("paused"))
    try await run("automation", "resume", "keep")

    // It fails: status says so, to people and to monitors.
    try FileManager.default.removeItem(atPath: out + ".sh")
    try await run("automation", "run", "often", status: 1)
    let status = try await run("status", "--json", status: 3)
    try expect(status, is: "status.json")
    let text = try await run("status", status: 3)
    #expect(
      text.output.contains("often has been failing since") && text.output.contains("is not there"), "\(text.output)")
    #expect(text.output.contains("Nothing runs here"))
    #expect(text.output.contains("51 samples of 1 type"))

    let history = try await run("automation", "history", "--json")
    for event in ["added", "automation.finished", "automation.failed", "paused"] {
      #expect(history.output.contains(event), "\(event)")
    }
    // That of all says which each line is about.
    let lines = try await run("automation", "history").output.split(separator: "\n")
    #expect(lines.allSatisfy { $0.contains("  keep  ") || $0.contains("  often  ") }, "\(lines)")
    #expect(lines.contains { $0.contains("automation.changed  keep  paused") }, "\(lines)")
    #expect(try await run("automation", "history", "none", status: 2).errors.contains("no automation called none"))
    try await run("automation", "remove", "often")
    let gone = try await run("automation", "remove", "often", status: 2)
    #expect(gone.errors.hasPrefix("Error: There is no automation called often"), "\(gone.errors)")
    try await run("automation", "remove", "keep")
    #expect(try String(contentsOfFile: home.home + "/config.toml", encoding: .utf8).isEmpty)
  }

  @Test(
    "hpeer run imports what is put into a folder, delivers in its time alone, and status ends with 5 while one fails")
  func running() async throws {
    let folder = scratch.path + "/in"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let settings = """
      [destination.timed]
      kind = "command"
      command = ["\(out).sh"]

      [automation.drop]
      when = "file"
      folder = "\(folder)"
      do = "import"

      [automation.nightly]
      when = "interval"
      every = "300d"
      do = "deliver"
      destinations = ["timed"]

      [automation.broken]
      when = "file"
      folder = "\(folder)/missing"
      do = "import"
      """
    try Data(settings.utf8).write(to: URL(filePath: home.home + "/config.toml"))
    #expect(symlink("/etc/hostname", folder + "/link.zip") == 0)
    let running = try home.start(["run", "--port", "0", "--no-advertise", "--bind", "127.0.0.1"])
    try FileManager.default.copyItem(atPath: try await SampleExport.small.path, toPath: folder + "/export.zip")
    let before = try await HealthStore(directory: home.home).samples.typeCounts().count
    try await eventually("the export is here", within: .seconds(60)) {
      try await HealthStore(directory: home.home).samples.typeCounts().count > before ? true : nil
    }
    let status = try await eventually("it is said what fails", within: .seconds(60)) {
      let outcome = try await home.start(["status"]).outcome()
      return outcome.status == 5 ? outcome : nil
    }
    #expect(status.output.contains("broken has been failing since"), "\(status.output)")
    let history = try await run("automation", "history", "drop").output
    #expect(history.contains("automation.passedOver  link.zip  1 file  link"), "\(history)")
    // Its automation has not come yet.
    #expect(kept == 0)
    #expect(try await run("automation", "run", "nightly").errors.contains("delivered"))
    #expect(kept > 0)
    running.send(SIGTERM)
    #expect(try await running.outcome().status == 0)
  }
}
