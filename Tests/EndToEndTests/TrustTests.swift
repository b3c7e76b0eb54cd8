import Foundation
import PeerTrust
import Testing

/// Tests of pairing and access, as seen at terminals.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct TrustTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
  }

  /// Returns a serving home with samples, and a client home that is paired with it.
  private func pair(window arguments: [String] = []) async throws -> (
    attic: Host, laptop: Host, server: RunningCommand, port: Int
  ) {
    let attic = scratch.host("attic")
    let laptop = scratch.host("laptop")
    try await attic.hold(.small)
    let (server, port) = try await attic.serve(["--port", "0", "--no-advertise"])
    try await pair(laptop, with: attic, port, window: arguments)
    return (attic, laptop, server, port)
  }

  private func pair(_ laptop: Host, with attic: Host, _ port: Int, window arguments: [String] = []) async throws {
    let (code, waiting) = try await attic.openWindow(arguments)
    let paired = try await laptop.run("pair", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code)
    #expect(paired.status == 0, "\(paired.errors)")
    #expect(try await waiting.outcome().status == 0)
  }

  private func pull(_ host: Host, _ port: Int) async throws -> Outcome {
    try await host.run("pull", "--host", "127.0.0.1:\(port)", "--json")
  }

  @Test("a copied list of peers is worth nothing on a machine with another certificate")
  func stolenToken() async throws {
    let (attic, laptop, _, port) = try await pair()
    #expect(try await pull(laptop, port).status == 0)
    let thief = scratch.host("thief")
    #expect(try await thief.run("identity").status == 0)
    #expect(try await thief.sh("cp '\(laptop.home)'/peers.sqlite* '\(thief.home)'").status == 0)
    let stolen = try await pull(thief, port)
    #expect(stolen.status == 4, "\(stolen.errors)")
    #expect(stolen.errors.contains("does not accept this machine"))
    #expect(try await thief.sampleCount() == 0)
    #expect(try await attic.run("audit").output.contains("wrongCertificate"))
    #expect(try await pull(laptop, port).status == 0)
    let peers = try await attic.run("peers", "--json").json()
    let client = try #require((peers["clients"] as? [[String: Any]])?.first)
    #expect(client["bound"] as? Bool == true)
    #expect(client["state"] as? String == "active")
  }

  @Test("a window opened for one type shows that type alone, and widening it later brings the rest, once")
  func scopedWindow() async throws {
    let (attic, laptop, _, port) = try await pair(window: ["--types", "stepCount"])
    let narrow = try await pull(laptop, port)
    #expect(narrow.status == 0, "\(narrow.errors)")
    let all = try await attic.contents()
    let steps = all.filter { $0.key.type.shortName == "stepCount" }
    #expect(!steps.isEmpty)
    #expect(try await laptop.contents() == steps)
    #expect(try await attic.run("peers").output.contains("stepCount"))
    #expect(try await attic.run("peers", "set", "", "--all-types").status == 4)
    let peers = try await attic.run("peers", "--json").json()
    let id = try #require((peers["clients"] as? [[String: Any]])?.first?["id"] as? String)
    #expect(try await attic.run("peers", "set", id, "--all-types", "--token-days", "7").status == 0)
    #expect(try await pull(laptop, port).status == 0)
    #expect(try await laptop.contents() == all)
    let again = try await attic.run("peers", "--json").json()
    #expect((again["clients"] as? [[String: Any]])?.first?["tokenDays"] as? Double == 7)
  }

  @Test(
    "a machine that may have numbers of days only is told so by pull and verify, and gets nothing, until it may have more"
  )
  func onlyDaily() async throws {
    let (attic, laptop, _, port) = try await pair()
    let peers = try await attic.run("peers", "--json").json()
    let id = try #require((peers["clients"] as? [[String: Any]])?.first?["id"] as? String)
    let before = try await laptop.contents()
    let set = try await attic.run("peers", "set", id, "--only-daily")
    #expect(set.status == 0 && set.errors.contains("may now read daily numbers of everything"), "\(set.errors)")
    #expect(try await attic.run("peers").output.contains("daily numbers of everything"))
    #expect(try await attic.run("audit").output.contains("onlyDaily=true"))
    for command in [["pull"], ["verify"]] {
      let refused = try await laptop.start(command + ["--host", "127.0.0.1:\(port)"]).outcome()
      #expect(refused.status == 4, "\(command): \(refused.errors)")
      #expect(refused.errors.contains("numbers of whole days only"), "\(command): \(refused.errors)")
    }
    #expect(try await laptop.contents() == before)
    #expect(try await attic.run("peers", "set", id, "--no-only-daily").status == 0)
    #expect(try await pull(laptop, port).status == 0)
    #expect(try await laptop.contents() == attic.contents())
  }

  @Test("a new identity is refused with a warning and exit code 8 until the machines have paired again")
  func rotation() async throws {
    let (attic, laptop, server, port) = try await pair()
    #expect(try await pull(laptop, port).status == 0)
    let before = try await attic.run("identity", "--json").json()
    let busy = try await attic.run("identity", "rotate", "--yes")
    #expect(busy.status == 11, "\(busy.errors)")
    server.send(SIGTERM)
    _ = try await server.outcome()

    let rotated = try await attic.run("identity", "rotate", "--yes")
    #expect(rotated.status == 0, "\(rotated.errors)")
    #expect(rotated.errors.contains("hpeer unpair"))
    let after = try await attic.run("identity", "--json").json()
    #expect(before["id"] as? String == after["id"] as? String)
    #expect(before["fingerprint"] as? String != after["fingerprint"] as? String)
    #expect(try await attic.run("audit").output.contains("identity.rotated"))

    _ = try await attic.serve(["--port", "\(port)", "--no-advertise"])
    let refused = try await pull(laptop, port)
    #expect(refused.status == 8, "\(refused.errors)")
    #expect(refused.errors.contains("STOP"))
    #expect(refused.errors.contains("hpeer identity"))
    // Nor is a code typed into what may be somebody else's window.
    let (code, _) = try await attic.openWindow()
    #expect(
      try await laptop.run("pair", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code).status == 8)
    let peers = try await laptop.run("peers", "--json").json()
    let id = try #require((peers["servers"] as? [[String: Any]])?.first?["id"] as? String)
    #expect(try await laptop.run("unpair", id).status == 0)
    try await pair(laptop, with: attic, port)
    let pulled = try await pull(laptop, port)
    #expect(pulled.status == 0, "\(pulled.errors)")
    #expect(try await laptop.contents() == attic.contents())
    // The same machine has not become two.
    let clients = try await attic.run("peers", "--json").json()["clients"] as? [[String: Any]]
    #expect(clients?.count == 1)
  }

  @Test("a client with a new certificate is known by the old key's signature: its name and limits stay")
  func clientRotation() async throws {
    let (attic, laptop, _, port) = try await pair(window: ["--types", "stepCount"])
    func client() async throws -> [String: Any] {
      let clients = try await attic.run("peers", "--json").json()["clients"] as? [[String: Any]]
      #expect(clients?.count == 1)
      return try #require(clients?.first)
    }
    let before = try await client()
    let rotated = try await laptop.run("identity", "rotate", "--yes")
    #expect(rotated.status == 0)
    #expect(rotated.errors.contains("know this machine again"), "\(rotated.errors)")
    for _ in 0..<2 { #expect(try await pull(laptop, port).status == 0) }
    let after = try await client()
    let fingerprint = try #require(try await laptop.run("identity", "--json").json()["fingerprint"] as? String)
    let id = try #require(after["id"] as? String)
    #expect(fingerprint.hasPrefix(id))
    #expect(after["formerId"] as? String == before["id"] as? String)
    #expect(after["types"] as? [String] == before["types"] as? [String])
    #expect(try await attic.run("audit").output.matches(of: #/identity\.rotated/#).count == 1)
    // By its former id, which the audit log names, it can still be meant.
    #expect(try await attic.run("revoke", try #require(before["id"] as? String)).status == 0)
    #expect(try await pull(laptop, port).status == 4)
    try await pair(laptop, with: attic, port)
    #expect(try await client()["types"] as? [String] == before["types"] as? [String])
  }

  @Test("a machine that begins anew is another one, which may read what the window says that it pairs in")
  func newIdentity() async throws {
    let (attic, laptop, _, port) = try await pair(window: ["--types", "stepCount"])
    #expect(try await laptop.sh("rm -r '\(laptop.home)/identity'").status == 0)
    #expect(try await pull(laptop, port).status == 4)
    let (code, waiting) = try await attic.openWindow()
    #expect(waiting.errors.contains("Whoever types this code may read: everything"), "\(waiting.errors)")
    let said = try #require(waiting.errors.firstRange(of: "Whoever types")?.lowerBound)
    let shown = try #require(waiting.errors.firstRange(of: "HPEER:")?.lowerBound)
    #expect(said < shown)
    let id = try #require(
      (try await laptop.run("peers", "--json").json()["servers"] as? [[String: Any]])?.first?["id"] as? String)
    #expect(try await laptop.run("unpair", id).status == 0)
    #expect(
      try await laptop.run("pair", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code).status == 0)
    let clients = try await attic.run("peers", "--json").json()["clients"] as? [[String: Any]]
    #expect(clients?.map { $0["types"] as? [String] == nil } == [false, true])
  }

  @Test("a window closes with the command that opened it, however that ends, and with `pair --close`")
  func windowOwner() async throws {
    let attic = scratch.host("attic")
    let (_, port) = try await attic.serve(["--port", "0", "--no-advertise"])
    func isOpen() async throws -> Bool {
      try await attic.run("status").output.contains("A pairing window is open")
    }
    for signal in [SIGINT, SIGTERM, SIGKILL] {
      let (code, waiting) = try await attic.openWindow()
      #expect(try await isOpen())
      waiting.send(signal)
      _ = try await waiting.outcome()
      try await eventually("the window is closed") { try await isOpen() ? nil : true }
      let late = try await scratch.host("late").run("pair", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code)
      #expect(late.status == 7, "\(late.errors)")
    }
    let (_, waiting) = try await attic.openWindow()
    #expect(try await attic.run("pair", "--close").errors.contains("is closed"))
    let closed = try await waiting.outcome()
    #expect(closed.status == 7, "\(closed.errors)")
    let again = try await attic.run("pair", "--close")
    #expect(again.status == 0 && again.errors.contains("No pairing window was open"), "\(again.errors)")
    #expect(try await attic.run("audit").output.matches(of: #/reason=openerGone/#).count == 3)
  }

  @Test("without a terminal to ask at, and without --yes, a rotation changes nothing")
  func rotationAsks() async throws {
    let home = scratch.host("home")
    let before = try await home.run("identity").output
    let refused = try await RunningCommand(
      ["setsid", "--wait", "env", "HPEER_HOME=\(home.home)", Build.hpeer, "identity", "rotate"]
    ).outcome()
    #expect(refused.status == 2, "\(refused.errors)")
    #expect(try await home.run("identity").output == before)
  }
}
