import Foundation
import Testing

/// Tests of the commands' output and exit codes on a single host, without a network except loopback.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct CommandLineTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
  }

  private var home: Host { scratch.host("home") }

  private func file(_ name: String, _ contents: Data) throws -> String {
    let path = scratch.path + "/" + name
    try contents.write(to: URL(fileURLWithPath: path))
    return path
  }

  // MARK: Import

  @Test("the same export twice, a later one, and an unzipped one")
  func importing() async throws {
    let first = try await home.run("import", SampleExport.small.path, "--json")
    #expect(first.status == 0, "\(first.errors)")
    let again = try await home.run("import", SampleExport.small.path)
    #expect(again.lastLine.hasPrefix("0 samples added"))
    let folder = scratch.path + "/folder"
    let small = try await SampleExport.small.path
    #expect(try await home.sh("mkdir '\(folder)' && cd '\(folder)' && unzip -q '\(small)'").status == 0)
    #expect(try await home.run("import", folder).lastLine.hasPrefix("0 samples added"))
    let later = try await home.run("import", SampleExport.smallLater.path)
    #expect(later.status == 0)
    #expect(!later.lastLine.hasPrefix("0 samples added"))
  }

  @Test("what is no export ends with code 65 and changes nothing", arguments: ["text", "zip", "empty", "missing"])
  func notAnExport(_ kind: String) async throws {
    let path: String
    switch kind {
    case "text": path = try file("a.xml", Data("just text".utf8))
    case "zip":
      path = scratch.path + "/other.zip"
      #expect(
        try await home.sh("cd '\(scratch.path)' && echo hello > hello.txt && zip -q other.zip hello.txt").status == 0)
    case "empty": path = try file("empty.zip", Data())
    default: path = scratch.path + "/none.zip"
    }
    let outcome = try await home.run("import", path)
    #expect(outcome.status == 65)
    #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
    #expect(try await home.sampleCount() == 0)
  }

  @Test("a truncated zip: what is whole is kept, code 65, and the whole file adds the rest")
  func truncatedZip() async throws {
    let path = try await SampleExport.medium.path
    let whole = try Data(contentsOf: URL(fileURLWithPath: path))
    let outcome = try await home.run("import", try file("cut.zip", whole.prefix(whole.count / 2)))
    #expect(outcome.status == 65)
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines.last?.contains("ends in the middle") == true, "\(outcome.errors)")
    let kept = try await home.sampleCount()
    #expect(kept > 100)
    #expect(try await home.run("import", path).status == 0)
    let other = scratch.host("other")
    #expect(try await other.run("import", path).status == 0)
    #expect(try await home.run("digest", "--deep").output == other.run("digest", "--deep").output)
  }

  // MARK: The store

  @Test("no store yet: code 10 and what to do")
  func noStore() async throws {
    for command in ["types", "audit"] {
      let outcome = try await home.run(command)
      #expect(outcome.status == 10)
      #expect(outcome.errors.contains("hpeer import"))
    }
  }

  @Test("a pull that finds nobody leaves no store behind, and one that was there as it was")
  func foundNobody() async throws {
    let vain: [([String], Int32)] = [(["pull", "--host", "127.0.0.1:1"], 3), (["pull", "--all"], 4)]
    for (arguments, status) in vain {
      #expect(try await home.start(arguments).outcome().status == status)
      #expect(try await home.run("types").status == 10)
    }
    try await home.hold(.small)
    let before = try await home.sampleCount()
    for (arguments, status) in vain {
      #expect(try await home.start(arguments).outcome().status == status)
      #expect(try await home.sampleCount() == before && before > 0)
    }
  }

  @Test("a pairing that fails leaves no store behind")
  func failedPairing() async throws {
    let fingerprint = String(repeating: "9f", count: 32)
    let payload =
      #"{"code":"482913","expiry":4070908800,"fingerprint":"\#(fingerprint)","host":"127.0.0.1","port":1}"#
    let vain: [([String], String)] = [
      (["pair", "--host", "127.0.0.1:1", "--code-stdin"], "482913"), (["pair", "-"], payload),
      (["pair", "-"], "nothing"), (["pair", "--qr", "/dev/null"], ""),
    ]
    for (arguments, input) in vain {
      let outcome = try await home.start(arguments, input: input).outcome()
      #expect(outcome.status != 0 && outcome.status != 2, "\(arguments): \(outcome.errors)")
      #expect(!FileManager.default.fileExists(atPath: home.home + "/store.sqlite"), "\(arguments)")
    }
  }

  @Test("an automation ends as the command does that it stands for")
  func automationStatus() async throws {
    let add = ["automation", "add", "nightly", "--when", "time", "--do", "pull", "--set", "at=03:00"]
    #expect(try await home.start(add).outcome().status == 0)
    let run = try await home.run("automation", "run", "nightly")
    #expect(run.status == 4, "\(run.errors)")
    #expect(run.errors.contains("hpeer pull NAME"), "\(run.errors)")
    #expect(try await home.run("pull", "--all").status == run.status)
  }

  @Test("a store from a newer version: code 10, left untouched")
  func newerStore() async throws {
    try await home.hold(.small)
    let store = home.home + "/store.sqlite"
    #expect(try await home.sh("sqlite3 '\(store)' \"INSERT INTO grdb_migrations VALUES ('v99')\"").status == 0)
    let before = try await home.sh("sha256sum '\(store)'").output
    for arguments in [["types"], ["serve"], ["import", try await SampleExport.small.path]] {
      let outcome = try await home.start(arguments).outcome()
      #expect(outcome.status == 10)
      #expect(outcome.errors.contains("newer"))
    }
    #expect(try await home.sh("sha256sum '\(store)'").output == before)
  }

  @Test("deleting asks, and without a terminal needs --yes")
  func deleting() async throws {
    try await home.hold(.small)
    let before = try await home.sampleCount()
    let range = ["--types", "heartRate", "--from", "2000-01-01", "--to", "2100-01-01"]
    let refused = try await RunningCommand(
      ["setsid", "--wait", "env", "HPEER_HOME=\(home.home)", Build.hpeer, "delete"] + range
    ).outcome()
    #expect(refused.status == 2)
    #expect(try await home.sampleCount() == before)
    #expect(try await home.start(["delete"] + range + ["--yes"]).outcome().status == 0)
    #expect(try await home.sampleCount() < before)
    // What was deleted does not come back with the next import.
    let remaining = try await home.sampleCount()
    #expect(try await home.run("import", SampleExport.small.path).lastLine.hasPrefix("0 samples added"))
    #expect(try await home.sampleCount() == remaining)
  }

  // MARK: Usage

  @Test(
    "usage errors end with code 2",
    arguments: [["pull", "--nonsense"], ["show", "noSuchType"], ["nonsense"], ["serve", "--port", "99999"]])
  func usage(_ arguments: [String]) async throws {
    #expect(try await home.start(arguments).outcome().status == 2)
  }

  @Test("a code on the command line is refused")
  func codeInArguments() async throws {
    let outcome = try await home.run("pair", "482913")
    #expect(outcome.status == 2)
    #expect(outcome.errors.contains("--code-stdin"))
  }

  @Test("every command has help with examples")
  func help() async throws {
    for command in [
      "import", "types", "show", "delete", "serve", "discover", "pair", "pull", "unpair", "peers", "revoke", "audit",
    ] {
      let outcome = try await home.run("help", command)
      #expect(outcome.status == 0)
      #expect(outcome.output.contains("hpeer \(command)"), "no example for \(command)")
    }
  }

  @Test("no example of a help text is broken at the 80 columns of a terminal")
  func exampleWidths() async throws {
    let dump = try await home.run("--experimental-dump-help").json()
    var commands = [try #require(dump["command"] as? [String: Any])]
    var examples = 0
    while let command = commands.popLast() {
      commands += command["subcommands"] as? [[String: Any]] ?? []
      let parts = (command["discussion"] as? String ?? "").components(separatedBy: "Examples:\n")
      guard parts.count == 2 else { continue }
      for line in parts[1].split(separator: "\n") {
        examples += 1
        #expect(line.count <= 80, "\(line)")
      }
    }
    #expect(examples > 100)
  }

  @Test("a type that is nearly right is suggested")
  func suggestion() async throws {
    #expect(try await home.run("show", "hartRate").errors.contains("heartRate"))
  }

  // MARK: Serving

  @Test("a second server on one store: code 11, naming the first")
  func secondServer() async throws {
    let (server, _) = try await home.serve(["--port", "0", "--no-advertise"])
    let second = try await home.run("serve", "--port", "0")
    #expect(second.status == 11)
    #expect(second.errors.contains("\(server.pid)"))
  }

  @Test("a port that is taken: one sentence with the way out")
  func portTaken() async throws {
    let (_, port) = try await home.serve(["--port", "0", "--no-advertise"])
    let other = try await scratch.host("other").run("serve", "--port", "\(port)", "--no-advertise")
    #expect(other.status == 1)
    #expect(other.errors.contains("--port 0"))
  }

  @Test("SIGTERM and SIGINT drain and say goodbye", arguments: [SIGTERM, SIGINT])
  func stopping(_ signal: Int32) async throws {
    let (server, _) = try await home.serve(["--port", "0", "--no-advertise"])
    server.send(signal)
    let outcome = try await server.outcome(within: .seconds(20))
    #expect(outcome.status == 0)
    #expect(outcome.errors.contains("Goodbye"))
    #expect(!FileManager.default.fileExists(atPath: home.home + "/control.sock"))
  }

  @Test("without a terminal no code is shown, and the control socket is the owner's alone")
  func noCodeInLogs() async throws {
    let (server, _) = try await home.serve(["--port", "0", "--no-advertise"])
    let (code, waiting) = try await home.openWindow()
    let digits = code.replacing(" ", with: "")
    #expect(!server.errors.contains(code) && !server.errors.contains(digits))
    let attributes = try FileManager.default.attributesOfItem(atPath: home.home + "/control.sock")
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    let audit = try await home.run("audit")
    #expect(!audit.output.contains(code) && !audit.output.contains(digits))
    waiting.send(SIGINT)
    #expect(try await waiting.outcome().status == 130)
  }

  @Test("pair --wait without a server says what to start")
  func waitWithoutServer() async throws {
    try await home.hold(.small)
    let outcome = try await home.run("pair", "--wait")
    #expect(outcome.status == 3)
    #expect(outcome.errors.contains("hpeer serve"))
  }

  @Test("a whole payload pairs: URI and JSON, from standard input")
  func payload() async throws {
    try await home.hold(.small)
    _ = try await home.serve(["--port", "0", "--no-advertise", "--bind", "127.0.0.1"])
    let waiting = try home.start(["pair", "--wait", "--pairing-json"])
    let uri = try await waiting.errors(matching: #/HPEER:P1\/[^\s]+/#)
    let first = scratch.host("first")
    #expect(try await first.run("pair", "-", input: String(uri) + "\n").status == 0)
    #expect(try await first.run("pull").status == 0)
    #expect(try await first.contents() == home.contents())
    #expect(try await waiting.outcome().status == 0)

    let again = try home.start(["pair", "--wait", "--pairing-json"])
    try await again.errors(matching: #/Code:/#)
    let json = try await eventually("the JSON is printed") { again.output.contains("}") ? again.output : nil }
    #expect(try await scratch.host("second").run("pair", "-", input: json).status == 0)
  }

  @Test("un-pairing is told to the server")
  func unpairing() async throws {
    try await home.hold(.small)
    let (_, port) = try await home.serve(["--port", "0", "--no-advertise", "--name", "studio"])
    let (code, _) = try await home.openWindow()
    let client = scratch.host("client")
    #expect(try await client.run("pull", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code).status == 0)
    #expect(try await client.run("unpair", "studio").status == 0)
    #expect(try await client.run("peers").errors.contains("No machine"))
    // It stays in the list, out of sight.
    let peers = try await home.run("peers")
    #expect(peers.output.isEmpty, "\(peers.output)")
    #expect(peers.errors.contains("1 revoked machine not shown"), "\(peers.errors)")
    #expect(try await home.run("peers", "--all").output.contains("revoked"))
    #expect(try await home.run("peers", "--json").output.contains("revoked"))
  }

  @Test("clocks that disagree by hours are pointed out")
  func clock() async throws {
    let (_, port) = try await home.serve(["--port", "0", "--no-advertise"])
    let (code, _) = try await home.openWindow()
    let client = scratch.host("client")
    let outcome = try await RunningCommand(
      Faketime.prefix("+10800") + [
        "env", "HPEER_HOME=\(client.home)", Build.hpeer, "pair", "--host", "127.0.0.1:\(port)", "--code-stdin",
      ], input: code
    ).outcome()
    #expect(outcome.status == 0)
    #expect(outcome.errors.contains("clock is 3 h ahead"), "\(outcome.errors)")
  }

  @Test(
    "a full disk in the middle of an import: one sentence, and the same command goes on", .enabled(if: getuid() == 0))
  func fullDisk() async throws {
    let small = scratch.host("small")
    let mounted = try await small.sh(
      "mkdir '\(small.home)' && mount -t tmpfs -o size=1m,mode=700 tmpfs '\(small.home)'")
    try #require(mounted.status == 0, "\(mounted.errors)")
    let outcome = try await small.run("import", SampleExport.large.path)
    #expect(outcome.status == 1)
    #expect(outcome.errors.contains("make room, then run the same command again"), "\(outcome.errors)")
    #expect(try await small.sh("mount -o remount,size=100m '\(small.home)'").status == 0)
    #expect(try await small.run("import", SampleExport.large.path).status == 0)
    #expect(try await home.run("import", SampleExport.large.path).status == 0)
    #expect(try await small.contents() == home.contents())
    #expect(try await small.sh("umount -l '\(small.home)'").status == 0)
  }

  @Test("a machine whose scope is narrowed, then widened, sees just what it may")
  func scope() async throws {
    try await home.hold(.small)
    let (_, port) = try await home.serve(["--port", "0", "--no-advertise", "--name", "studio"])
    let (code, _) = try await home.openWindow()
    let client = scratch.host("client")
    #expect(try await client.run("pair", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code).status == 0)
    let identity = try #require(try await home.run("peers", "--json").json()["clients"] as? [[String: Any]])
    let id = try #require(identity.first?["id"] as? String)

    let beats = try await home.contents().filter { $0.key.type.shortName == "heartRate" }
    let end = try #require(beats.keys.map(\.start).sorted().dropFirst(beats.count / 2).first)
    let set = try await home.run("peers", "set", id, "--types", "heartRate", "--to", end.iso8601, "--utc")
    #expect(set.errors.contains("heartRate before \(end.iso8601)"), "\(set.errors)")
    let known = try await home.run("peers", "--json").json()["clients"] as? [[String: Any]]
    #expect(known?.first?["until"] as? String == end.iso8601)
    #expect(try await client.run("pull").status == 0)
    let narrow = try await client.contents()
    #expect(!narrow.isEmpty && narrow.count < beats.count)
    #expect(narrow == beats.filter { $0.key.start < end })
    let empty = try await home.run("peers", "set", id, "--from", end.iso8601, "--token-days", "7")
    #expect(empty.status == 2 && empty.errors.contains("--from must be before --to"), "\(empty.errors)")
    let unchanged = try await home.run("peers", "--json").json()["clients"] as? [[String: Any]]
    #expect(unchanged?.first?["tokenDays"] as? Double == 30)

    #expect(try await home.run("peers", "set", id, "--all-types", "--no-to").status == 0)
    #expect(try await client.run("pull").status == 0)
    #expect(try await client.contents() == home.contents())
    #expect(try await home.run("audit").output.contains("scope.changed"))
    #expect(try await home.run("peers", "set", id).status == 2)
    #expect(try await home.run("peers", "set", "nobody", "--all-types").status == 4)
  }
}
