import Foundation
import Testing

/// Tests of an import on a host and a pull on another, over a real network with Avahi on both sides.
@Suite(
  .serialized, .timeLimit(.minutes(10)),
  .enabled(if: TwoHosts.obstacle == nil, "two hosts need root: \(TwoHosts.obstacle ?? "")"))
struct MainJobTests {
  @Test("import, serve, discover, pull, later import, deletion, revocation")
  func mainJob() async throws {
    let hosts = try await TwoHosts()
    let (studio, laptop) = (hosts.studio, hosts.laptop)
    let imported = try await studio.run("import", SampleExport.small.path, "--json")
    #expect(imported.status == 0)
    let total = try #require(imported.json()["added"] as? Int)
    #expect(total > 3000)
    let (server, _) = try await studio.serve(["--name", "studio"])

    let discovered = try await eventually("studio is discovered") {
      let outcome = try await laptop.run("discover")
      return outcome.output.contains("studio") && outcome.output.contains("10.77.0.1") ? outcome.output : nil
    }
    #expect(discovered.contains("8737"))
    #expect(discovered.contains("not paired"))

    let first = try await hosts.pairAndPull()
    #expect(first.status == 0, "\(first.errors)")
    #expect(try first.json()["added"] as? Int == total)
    #expect(try await studio.contents() == laptop.contents())

    let second = try await laptop.run("pull", "--json")
    #expect(second.status == 0)
    #expect(try second.json()["added"] as? Int == 0)
    #expect(try second.json()["requests"] as? Int == 1)

    let later = try await studio.run("import", SampleExport.smallLater.path, "--json")
    let new = try #require(later.json()["added"] as? Int)
    #expect(new > 0 && new < 200)
    try await hosts.control("avahi", "studio", "restart")
    let third = try await laptop.run("pull", "--json")
    #expect(try third.json()["added"] as? Int == new)
    #expect(try third.json()["requests"] as? Int == 1)

    let deletion = try await studio.run(
      "delete", "--type", "stepCount", "--from", "2000-01-01", "--to", "2100-01-01", "--yes")
    #expect(deletion.status == 0)
    let fourth = try await laptop.run("pull", "--json")
    #expect(try #require(fourth.json()["deleted"] as? Int) > 100)
    #expect(try await studio.contents() == laptop.contents())

    let audit = try await studio.run("audit")
    for event in ["import", "server.started", "window.opened", "pairing.succeeded", "data.read", "delete"] {
      #expect(audit.output.contains(event), "no \(event) in the audit log")
    }
    #expect(try await laptop.run("audit").output.contains("pull.finished"))
    #expect(try await studio.run("audit", "verify").status == 0)

    #expect(try await studio.run("revoke", "laptop").status == 0)
    let refused = try await laptop.run("pull")
    #expect(refused.status == 4)
    #expect(refused.errors.contains("hpeer pair studio"))

    server.send(SIGTERM)
    let stopped = try await server.outcome()
    #expect(stopped.status == 0)
    #expect(stopped.errors.contains("Goodbye"))
  }

  @Test("after an Avahi restart the server is found again, and after its end it is not")
  func avahiRestart() async throws {
    let hosts = try await TwoHosts()
    let (server, _) = try await hosts.studio.serve(["--name", "studio"])
    func isDiscovered() async throws -> Bool {
      try await hosts.laptop.run("discover", "--json", "--timeout", "2").output.contains("\"studio\"")
    }
    try await eventually("discovered") { try await isDiscovered() ? true : nil }
    try await hosts.control("avahi", "studio", "restart")
    try await eventually("discovered after the restart") { try await isDiscovered() ? true : nil }
    server.send(SIGINT)
    #expect(try await server.outcome().status == 0)
    try await eventually("withdrawn") { try await isDiscovered() ? nil : true }
  }

  @Test("two servers of one name: the second takes the alternative")
  func nameCollision() async throws {
    let hosts = try await TwoHosts()
    _ = try await hosts.studio.serve(["--name", "same"])
    let other = try hosts.laptop.start(["serve", "--name", "same"])
    try await other.errors(matching: #/announced as same #2/#)
  }

  @Test("wrong codes: attempts left, then locked until a local act")
  func wrongCodes() async throws {
    let hosts = try await TwoHosts()
    try await hosts.studio.hold(.small)
    _ = try await hosts.studio.serve(["--name", "studio"])
    let (code, waiting) = try await hosts.studio.openWindow()
    let wrong = code == "000 000" ? "000001" : "000000"
    for left in [4, 3, 2, 1] {
      let outcome = try await hosts.laptop.run("pair", "studio", "--code-stdin", input: wrong + "\n")
      #expect(outcome.status == 6)
      #expect(outcome.errors.contains("attempts left: \(left)"), "\(outcome.errors)")
    }
    let last = try await hosts.laptop.run("pair", "studio", "--code-stdin", input: wrong + "\n")
    #expect(last.status == 6)
    #expect(last.errors.contains("no attempts are left"))
    #expect(try await waiting.outcome().status == 7)
    let locked = try await hosts.laptop.run("pair", "studio", "--code-stdin", input: wrong + "\n")
    #expect(locked.status == 7)

    let pulled = try await hosts.pairAndPull()
    #expect(pulled.status == 0)
    #expect(try await hosts.studio.contents() == hosts.laptop.contents())
  }

  @Test("without avahi-daemon: a sentence that says how to start it, and --host works")
  func noAvahi() async throws {
    let hosts = try await TwoHosts()
    try await hosts.studio.hold(.small)
    _ = try await hosts.studio.serve(["--name", "studio"])
    try await hosts.control("avahi", "laptop", "stop")
    let discover = try await hosts.laptop.run("discover")
    #expect(discover.status == 3)
    #expect(discover.errors.contains("systemctl start avahi-daemon"))
    #expect(discover.errors.contains("--host"))
    let (code, _) = try await hosts.studio.openWindow()
    let pull = try await hosts.laptop.run("pull", "--host", "10.77.0.1", "--code-stdin", input: code)
    #expect(pull.status == 0, "\(pull.errors)")
    #expect(try await hosts.laptop.run("pull").status == 0)
  }

  @Test("nobody there: says what was tried")
  func nobody() async throws {
    let hosts = try await TwoHosts()
    let outcome = try await hosts.laptop.run("pull")
    #expect(outcome.status == 3)
    #expect(outcome.errors.contains("hpeer serve"))
    let named = try await hosts.laptop.run("pull", "attic")
    #expect(named.status == 3)
    #expect(named.errors.contains("attic"))
    let refused = try await hosts.laptop.run("pull", "--host", "10.77.0.1")
    #expect(refused.status == 3)
    #expect(refused.errors.contains("refused"))
  }

  @Test("another certificate at the paired machine's address: refused with a warning, nothing sent")
  func certificateChanged() async throws {
    let hosts = try await TwoHosts()
    try await hosts.studio.hold(.small)
    let (server, _) = try await hosts.studio.serve(["--name", "studio"])
    #expect(try await hosts.pairAndPull().status == 0)
    server.send(SIGTERM)
    _ = try await server.outcome()

    let impostor = Host(
      home: hosts.scratch.path + "/impostor", scratch: hosts.scratch, prefix: hosts.studio.prefix)
    let (posing, _) = try await impostor.serve(["--name", "studio"])
    let outcome = try await hosts.laptop.run("pull")
    #expect(outcome.status == 8)
    #expect(outcome.errors.contains("posing"))
    #expect(!(try await impostor.run("audit").output.contains("token.refused")))
    posing.send(SIGTERM)
    _ = try await posing.outcome()
  }
}
