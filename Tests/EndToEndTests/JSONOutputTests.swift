import Foundation
import TestSupport
import Testing

/// Tests that the output of `--json` always matches docs/reference/schemas, which docs/reference/json.md explains.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct JSONOutputTests {
  /// The schema of each command with `--json`. If `isLines` is true, the schema describes each line.
  private static let schemas: [String: (schema: String, isLines: Bool)] = [
    "import": ("import.json", false), "types": ("types.json", false), "show": ("sample.json", true),
    "digest": ("digest.json", false), "discover": ("discover.json", false), "pull": ("pull.json", true),
    "verify": ("verify.json", false), "inbox list": ("inbox.json", false), "peers list": ("peers.json", false),
    "identity show": ("identity.json", false),
    "status": ("status.json", false), "audit show": ("audit.json", true), "doctor": ("doctor.json", false),
    "backup create": ("backup.json", false), "backup verify": ("backup-verify.json", false),
    "restore": ("restore.json", false),
    "undelete": ("undelete.json", false), "stats": ("statistics.json", true),
    "sleep": ("sleep.json", false), "latest": ("sample.json", true), "sources": ("sources.json", false),
    "workouts": ("workouts.json", false), "workout": ("workout.json", false), "zone": ("zone.json", false),
    "units": ("units.json", false),
    "summary": ("summary.json", false), "coverage": ("coverage.json", false),
    "destination list": ("destinations.json", false), "destination status": ("destinations.json", false),
    "destination kinds": ("destination-kinds.json", false), "destination history": ("audit.json", true),
    "destination rejected": ("destination-rejected.json", true), "sync": ("sync.json", true),
    "automation list": ("automations.json", false), "automation kinds": ("automation-kinds.json", false),
    "automation history": ("audit.json", true), "config show": ("config.json", false),
  ]
  private static let documents = Build.root + "/docs/reference/schemas"
  private let schema: JSONSchema

  init() throws {
    schema = try JSONSchema(directory: Self.documents)
  }

  /// Fails the test unless each line of standard output is a JSON value that matches the schema.
  private func expect(
    _ outcome: Outcome, _ name: String, lines expected: Int? = 1, status: Int32 = 0,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(outcome.status == status, "\(outcome.errors)", sourceLocation: sourceLocation)
    let lines = outcome.output.split(separator: "\n")
    if let expected {
      #expect(lines.count == expected, "\(outcome.output.prefix(2000))", sourceLocation: sourceLocation)
    }
    for line in lines {
      #expect(
        try schema.violations(of: line, against: name) == [], "\(line.prefix(2000))", sourceLocation: sourceLocation)
    }
  }

  /// Fails the test unless the output is an error whose code is the exit code.
  private func expectError(
    _ outcome: Outcome, _ kind: String, _ status: Int32, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try expect(outcome, "error.json", status: status, sourceLocation: sourceLocation)
    let error = try #require(try outcome.json()["error"] as? [String: Any], sourceLocation: sourceLocation)
    #expect(error["kind"] as? String == kind, sourceLocation: sourceLocation)
    #expect(error["code"] as? Int == Int(status), sourceLocation: sourceLocation)
    let message = try #require(error["message"] as? String, sourceLocation: sourceLocation)
    #expect(outcome.errors.contains(message.prefix { $0 != "\n" }), sourceLocation: sourceLocation)
  }

  // MARK: Every command

  /// A command as described by `--experimental-dump-help`.
  private struct CommandHelp: Decodable {
    struct Argument: Decodable {
      struct Name: Decodable { var name: String }
      var names: [Name]?
    }
    var commandName: String
    var subcommands: [CommandHelp]?
    var arguments: [Argument]?

    /// Returns the commands with `--json`, as the words that lead to them.
    func takingJSON(below path: [String] = []) -> [String] {
      let isTaking = (arguments ?? []).contains { $0.names?.contains { $0.name == "json" } ?? false }
      let own = isTaking ? [path.joined(separator: " ")] : []
      return own + (subcommands ?? []).flatMap { $0.takingJSON(below: path + [$0.commandName]) }
    }
  }

  private struct Help: Decodable { var command: CommandHelp }

  @Test("every command that takes --json has a schema, and every schema is in docs/reference/json.md")
  func completeness() async throws {
    let dumped = try await Scratch().host("home").run("--experimental-dump-help")
    let help = try JSONDecoder().decode(Help.self, from: Data(dumped.output.utf8))
    #expect(
      help.command.takingJSON().sorted() == Self.schemas.keys.sorted(),
      "a command that takes --json: describe it in docs/reference/schemas and docs/reference/json.md, and add it here")
    let text = try String(contentsOfFile: Build.root + "/docs/reference/json.md", encoding: .utf8)
    for name in schema.names { #expect(text.contains("(schemas/\(name))"), "\(name) is not in docs/reference/json.md") }
    for (_, entry) in Self.schemas { #expect(schema.names.contains(entry.schema)) }
  }

  @Test("one machine: what is there, and what was done")
  func alone() async throws {
    let home = try Scratch().host("home")
    let imported = try await home.run("import", "--json", SampleExport.small.path)
    try expect(imported, "import.json")
    let again = try await home.run("import", "--json", SampleExport.small.path)
    try expect(again, "import.json")
    let report = try #require(try again.json()["report"] as? [String: Any])
    #expect(report["isComplete"] as? Bool == true)
    #expect(try again.json()["importedBefore"] is String)
    let tried = try await home.run("import", "--json", "--snapshot", "--dry-run", SampleExport.smallLater.path)
    try expect(tried, "import.json")
    #expect(try tried.json()["snapshot"] as? String == "done")
    try expect(try await home.run("import", "--undo", "--dry-run", "--json"), "import-undo.json")
    let steps = ["--types", "stepCount", "--from", "2000-01-01", "--to", "2100-01-01", "--yes"]
    #expect(try await home.start(["delete"] + steps).outcome().status == 0)
    let file = try await SampleExport.small.path
    for _ in 0..<2 {
      try expect(try await home.start(["undelete", "--json"] + steps + [file]).outcome(), "undelete.json")
    }

    let backup = home.home + ".tar.zst"
    try expect(try await home.run("backup", "--unencrypted", "--json", backup), "backup.json")
    try expect(try await home.run("backup", "verify", "--json", backup), "backup-verify.json")
    try expect(try await home.run("restore", "--replace", "--json", backup), "restore.json")

    let types = try await home.run("types", "--json")
    try expect(types, "types.json")
    var kinds: Set<String> = []
    for entry in try #require(try types.json()["types"] as? [[String: Any]]) {
      let type = try #require(entry["type"] as? String)
      let shown = try await home.run("show", type, "--json", "--limit", "3")
      try expect(shown, "sample.json", lines: nil)
      for line in shown.output.split(separator: "\n") {
        let sample = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        kinds.insert(try #require(sample?["kind"] as? String))
      }
    }
    let numbers = ["stepCount", "heartRate", "bodyMass", "activeEnergyBurned"]
    try expect(
      try await home.run("stats", "--by", "month", "--json", numbers[0], numbers[1]), "statistics.json", lines: 2)
    for zone in ["Europe/Berlin", "+05:45"] {
      try expect(
        try await home.start(["stats", "--by", "week", "--zone", zone, "--json"] + numbers).outcome(),
        "statistics.json",
        lines: numbers.count)
    }
    let slept = try await home.run("sleep", "--json", "--zone", "Europe/Berlin")
    try expect(slept, "sleep.json")
    #expect(try (slept.json()["nights"] as? [Any])?.isEmpty == false)
    try expect(try await home.start(["latest", "--json"] + numbers).outcome(), "sample.json", lines: nil)
    for arguments in [["sources", "--json"], ["sources", "stepCount", "--json"]] {
      let listed = try await home.start(arguments).outcome()
      try expect(listed, "sources.json")
      #expect(try (listed.json()["sources"] as? [Any])?.isEmpty == false)
    }
    let night = try #require((try slept.json()["nights"] as? [[String: Any]])?.last?["date"] as? String)
    for arguments in [["--on", night], ["--on", night, "--units", "imperial", "--zone", "travel"], []] {
      let summary = try await home.start(["summary", "--json"] + arguments).outcome()
      try expect(summary, "summary.json")
      #expect(try summary.json()["night"] != nil || arguments.isEmpty)
    }
    try expectError(try await home.run("summary", "--json", "--from", night), "usage", 2)
    for arguments in [[], ["stepCount", "workout", "mindfulSession"]] {
      let coverage = try await home.start(["coverage", "--json"] + arguments).outcome()
      try expect(coverage, "coverage.json")
      #expect(try (coverage.json()["types"] as? [Any])?.isEmpty == false)
    }
    try expect(try await home.run("zone", "--json"), "zone.json")
    try expect(try await home.run("zone", "Europe/Berlin", "--json"), "zone.json")
    try expectError(try await home.run("zone", "Europe/Nowhere", "--json"), "usage", 2)
    try expect(try await home.run("units", "--json"), "units.json")
    try expectError(try await home.run("units", "cubits", "--json"), "usage", 2)
    let listed = try await home.run("workouts", "--json")
    try expect(listed, "workouts.json")
    let workouts = try #require(try listed.json()["workouts"] as? [[String: Any]])
    let id = try #require(workouts.first?["id"] as? String)
    try expect(try await home.run("workout", String(id.prefix(12)), "--json"), "workout.json")
    try expectError(try await home.run("workout", "00000000-ffff", "--json"), "usage", 2)
    #expect(kinds.isSuperset(of: ["quantity", "category", "correlation", "workout"]))
    for arguments in [["digest", "--json"], ["digest", "--deep", "--json", "--types", "heartRate"]] {
      try expect(try await home.start(arguments).outcome(), "digest.json")
    }
    try expect(try await home.run("identity", "--json"), "identity.json")
    try expect(try await home.run("peers", "--json"), "peers.json")
    let sender = ["inbox", "add", "phone", "--types", "heartRate", "--merge-person"]
    #expect(try await home.start(sender).outcome().status == 0)
    try expect(try await home.run("inbox", "--json"), "inbox.json")
    try expect(try await home.run("audit", "--json"), "audit.json", lines: nil)
    let examined = try await home.run("doctor", "--json")
    try expect(examined, "doctor.json", status: examined.status)
    #expect(try examined.json()["ok"] as? Bool == (examined.status == 0))
  }

  @Test("a server and its window, open, closed and locked; and no server")
  func status() async throws {
    let home = try Scratch().host("home")
    let idle = try await home.run("status", "--json")
    try expect(idle, "status.json", status: 3)
    #expect(try idle.json()["ok"] as? Bool == false)
    let (_, port) = try await home.serve(["--port", "0", "--no-advertise", "--bind", "127.0.0.1"])
    func window() async throws -> [String: Any] {
      let outcome = try await home.run("status", "--json")
      try expect(outcome, "status.json")
      return try #require(try outcome.json()["window"] as? [String: Any])
    }
    #expect(try await window()["state"] as? String == "closed")
    let (code, waiting) = try await home.openWindow(["--types", "heartRate", "--from", "2024-01-01"])
    let open = try await window()
    #expect(open["state"] as? String == "open")
    #expect(open["openedBy"] as? String == "command")
    #expect(open["process"] as? Int == Int(waiting.pid))
    #expect(open["types"] as? [String] == ["HKQuantityTypeIdentifierHeartRate"])
    #expect(open["since"] is String)
    let text = try await home.run("status").output
    #expect(text.contains("heartRate from 2024-01-01 on") && text.contains("5 attempts left"), "\(text)")
    #expect(!text.contains(code) && !text.contains(code.filter(\.isNumber)))
    for _ in 0..<5 {
      _ = try await home.sh(
        "curl -sk https://127.0.0.1:\(port)/api/v1/pair -H 'Content-Type: application/json' -d '{\"code\":\"none\"}'")
    }
    #expect(try await waiting.outcome().status == 7)
    #expect(try await window()["state"] as? String == "locked")
  }

  @Test("two machines: pulling, comparing, following, and one of several that is away")
  func peers() async throws {
    let homes = try await PairedHomes(export: .small)
    let (server, port) = try await homes.serve()
    try await homes.remember(port: port)
    try expect(try await homes.laptop.run("pull", "--json"), "pull.json")
    try expect(try await homes.laptop.run("verify", "--json"), "verify.json")
    try expect(try await homes.laptop.run("pull", "--json", "--verify", "--deep"), "pull.json")

    let following = try homes.laptop.start(["pull", "--watch", "--json"])
    try await following.errors(matching: #/up to date/#)
    #expect(try await homes.studio.run("import", SampleExport.smallLater.path).status == 0)
    let news = try await eventually("news") { following.output.contains("}\n") ? following.output : nil }
    for line in news.split(separator: "\n") {
      #expect(try schema.violations(of: line, against: "pull-watch.json") == [])
    }
    following.send(SIGTERM)
    #expect(try await following.outcome().status == 0)
    try expect(try await homes.studio.run("audit", "--json"), "audit.json", lines: nil)
    for host in [homes.studio, homes.laptop] { try expect(try await host.run("peers", "--json"), "peers.json") }

    // What this machine alone has makes a difference, which the report says: no error besides.
    let deletion = ["delete", "--type", "stepCount", "--from", "2000-01-01", "--to", "2100-01-01", "--yes"]
    #expect(try await homes.laptop.start(deletion).outcome().status == 0)
    try expect(try await homes.laptop.run("verify", "--json"), "verify.json", status: 9)
    try expect(try await homes.laptop.run("pull", "--json", "--all", "--verify"), "pull.json", status: 9)

    let attic = homes.scratch.host("attic")
    #expect(try await attic.run("import", SampleExport.small.path).status == 0)
    let (_, atticPort) = try await attic.serve([
      "--port", "0", "--no-advertise", "--bind", "127.0.0.1", "--name", "attic",
    ])
    let (code, _) = try await attic.openWindow()
    let paired = try await homes.laptop.run("pair", "--host", "127.0.0.1:\(atticPort)", "--code-stdin", input: code)
    try #require(paired.status == 0, "\(paired.errors)")
    server.send(SIGKILL)
    _ = try await server.outcome()
    let all = try await homes.laptop.run("pull", "--all", "--json")
    try expect(all, "pull.json", lines: 2, status: 3)
    let peers = try all.output.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(Set(peers.compactMap { $0["peer"] as? String }) == ["studio", "attic"])
    for peer in peers {
      let error = peer["error"] as? [String: Any]
      #expect((peer["peer"] as? String == "studio") == (error?["kind"] as? String == "unreachable"))
      #expect((peer["added"] is Int) == (error == nil))
    }
    try expectError(try await homes.laptop.run("pull", "studio", "--json"), "unreachable", 3)
  }

  @Test("errors: an object in the place of the answer, the exit code unchanged")
  func errors() async throws {
    let scratch = try Scratch()
    let home = scratch.host("home")
    try expectError(try await home.run("types", "--json"), "storeUnusable", 10)
    try expectError(try await home.run("show", "--json"), "usage", 2)
    try expectError(try await home.run("show", "stepCount", "--json", "--limit", "-1"), "usage", 2)
    try expectError(try await home.run("pull", "--all", "--json"), "refused", 4)
    try expectError(try await home.run("pull", "--host", "127.0.0.1:1", "--json"), "unreachable", 3)
    let garbage = scratch.path + "/garbage.zip"
    try Data("no export".utf8).write(to: URL(fileURLWithPath: garbage))
    try expectError(try await home.run("import", "--json", garbage), "badInput", 65)

    // Without --json, and after the end of the options, nothing is added to standard output.
    let plain = try await home.run("import", garbage)
    #expect(plain.status == 65 && plain.output.isEmpty)
    #expect(try await home.run("import", "--", "--json").output.isEmpty)
    #expect(try await home.run("types", "--json", "--help").output.hasPrefix("OVERVIEW"))
  }

  @Test("a file that is cut off: the report says so, and no error besides")
  func cutOff() async throws {
    let scratch = try Scratch()
    let home = scratch.host("home")
    let path = scratch.path + "/export.xml"
    let outcome = try await home.sh(
      "unzip -p '\(try await SampleExport.small.path)' '*/export.xml' | head -c 500000 >'\(path)'")
    try #require(outcome.status == 0, "\(outcome.errors)")
    for _ in 0..<2 {
      let imported = try await home.run("import", "--json", path)
      try expect(imported, "import.json", status: 65)
      #expect((try imported.json()["report"] as? [String: Any])?["isComplete"] as? Bool == false)
    }
  }

  @Test(
    "who is on the network", .enabled(if: TwoHosts.obstacle == nil, "two hosts need root: \(TwoHosts.obstacle ?? "")"))
  func discover() async throws {
    let hosts = try await TwoHosts()
    try expect(try await hosts.laptop.run("discover", "--json", "--timeout", "1"), "discover.json")
    _ = try await hosts.studio.serve(["--name", "studio"])
    let found = try await hosts.laptop.run("discover", "--json")
    try expect(found, "discover.json")
    #expect(try (found.json()["peers"] as? [Any])?.count == 1)
    try await hosts.control("dbus", "laptop", "stop")
    try expectError(try await hosts.laptop.run("discover", "--json"), "unreachable", 3)
  }
}
