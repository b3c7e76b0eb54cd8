import Foundation
import Testing

/// Tests of the messages for rare situations.
@Suite(.timeLimit(.minutes(5)))
struct WordingTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private var studio: Host { scratch.host("studio") }
  private var laptop: Host { scratch.host("laptop") }
  private static let serving = ["--port", "0", "--no-advertise", "--bind", "127.0.0.1", "--name"]

  @Test("Ctrl-C in `pair --wait`: nobody has paired")
  func waiting() async throws {
    _ = try await studio.serve(Self.serving + ["studio"])
    let (_, waiting) = try await studio.openWindow()
    waiting.send(SIGINT)
    let outcome = try await waiting.outcome()
    #expect(outcome.status == 130)
    #expect(outcome.errors.contains("no machine has paired"), "\(outcome.errors)")
    #expect(!outcome.errors.contains("saved"), "\(outcome.errors)")
  }

  @Test("Ctrl-C ends `audit --follow` without a word")
  func following() async throws {
    try await studio.hold(.small)
    let following = try studio.start(["audit", "--follow"])
    try await eventually("the log is printed") { following.output.contains("import") ? true : nil }
    following.send(SIGINT)
    let outcome = try await following.outcome()
    #expect(outcome.status == 130)
    #expect(outcome.errors.isEmpty, "\(outcome.errors)")
  }

  @Test("five digits: six are needed, and no attempt is spent")
  func fiveDigits() async throws {
    let (_, port) = try await studio.serve(Self.serving + ["studio"])
    let (code, waiting) = try await studio.openWindow()
    let five = String(code.dropLast())
    let outcome = try await laptop.run("pair", "--host", "127.0.0.1:\(port)", "--code-stdin", input: five)
    #expect(outcome.status == 65)
    #expect(outcome.errors.contains("5 digits; a code has six"), "\(outcome.errors)")

    let terminal = try PseudoTerminal(["HPEER_HOME=\(laptop.home)", Build.hpeer, "pair", "--host", "127.0.0.1:\(port)"])
    try await terminal.text(matching: #/Code shown on studio: /#)
    terminal.type(five + "\n")
    try await terminal.text(matching: #/5 digits; a code has six/#)
    try await eventually("asked again") { terminal.text.matches(of: #/Code shown on/#).count == 2 ? true : nil }
    terminal.type(code + "\n")
    #expect(try await terminal.exitStatus() == 0)
    #expect(!waiting.errors.contains("wrong code"), "\(waiting.errors)")
    #expect(try await waiting.outcome().status == 0)
  }

  @Test("another certificate than that of the code: there was no pairing yet")
  func otherThanInvited() async throws {
    _ = try await studio.serve(Self.serving + ["studio"])
    let waiting = try studio.start(["pair", "--wait", "--pairing-json"])
    let json = try await eventually("the JSON is printed") { waiting.output.contains("}") ? waiting.output : nil }
    let other = json.replacing(
      #/"fingerprint":"[0-9a-f]{64}"/#, with: "\"fingerprint\":\"\(String(repeating: "0f", count: 32))\"")
    #expect(other != json)
    let outcome = try await laptop.run("pair", "-", input: other)
    #expect(outcome.status == 8)
    #expect(outcome.errors.contains("not the machine that the code is of"), "\(outcome.errors)")
    #expect(!outcome.errors.contains("paired with"), "\(outcome.errors)")
    waiting.send(SIGINT)
  }

  @Test("another certificate when un-pairing is said on one line")
  func unpairing() async throws {
    let (server, port) = try await studio.serve(Self.serving + ["studio"])
    let (code, _) = try await studio.openWindow()
    #expect(try await laptop.run("pair", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code).status == 0)
    server.send(SIGTERM)
    _ = try await server.outcome()
    #expect(try await studio.run("identity", "rotate", "--yes").status == 0)
    _ = try await studio.serve(["--port", "\(port)", "--no-advertise", "--bind", "127.0.0.1", "--name", "studio"])
    let outcome = try await laptop.run("unpair", "studio")
    #expect(outcome.status == 0)
    #expect(outcome.errors.contains("studio could not be told: "), "\(outcome.errors)")
    #expect(!outcome.errors.contains(#"\u{a}"#), "\(outcome.errors)")
  }

  @Test("`pull --all` says once of each machine what is the matter with it")
  func pullingAll() async throws {
    for name in ["attic", "cellar"] {
      let host = scratch.host(name)
      let (server, port) = try await host.serve(Self.serving + [name])
      let (code, _) = try await host.openWindow()
      #expect(try await laptop.run("pair", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code).status == 0)
      server.send(SIGTERM)
      _ = try await server.outcome()
    }
    let outcome = try await laptop.run("pull", "--all", "--timeout", "1")
    #expect(outcome.status == 3, "\(outcome.errors)")
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines.count == 2 && lines[0].hasPrefix("attic: ") && lines[1].hasPrefix("cellar: "), "\(outcome.errors)")
  }

  @Test("an address that is not this machine's is named without functions of the program")
  func binding() async throws {
    let foreign = try await studio.run("serve", "--port", "0", "--no-advertise", "--bind", "192.0.2.1")
    #expect(foreign.status == 1)
    #expect(
      foreign.errors.contains("Cannot listen on 192.0.2.1 (Cannot assign requested address)"), "\(foreign.errors)")
    let unknown = try await studio.run("serve", "--port", "0", "--no-advertise", "--bind", "nowhere.invalid")
    #expect(unknown.status == 1)
    #expect(unknown.errors.contains("no address is known for this name"), "\(unknown.errors)")
  }

  @Test("one sample is one sample")
  func plural() async throws {
    let line = """
      {"added":{"end":"2024-06-15T08:00:00Z","kind":"quantity","payload":{"unit":"count/min","value":72},\
      "source":{"name":"Watch"},"start":"2024-06-15T08:00:00Z","type":"HKQuantityTypeIdentifierHeartRate",\
      "uuid":"3D2F0A4C-7B51-4A55-9E0B-0123456789AB"}}
      """
    let path = scratch.path + "/feed.ndjson"
    try Data((line + "\n").utf8).write(to: URL(fileURLWithPath: path))
    let dry = try await studio.run("import", "--dry-run", path)
    #expect(dry.lastLine.contains("add 1 sample and"), "\(dry.output)\(dry.errors)")
    let outcome = try await studio.run("import", path)
    #expect(outcome.lastLine.hasPrefix("1 sample added, 0 already here"), "\(outcome.output)\(outcome.errors)")
  }

  @Test("a machine that is called otherwise by now is listed so")
  func renamed() async throws {
    let (server, port) = try await studio.serve(Self.serving + ["studio"])
    let (code, _) = try await studio.openWindow()
    #expect(try await laptop.run("pull", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code).status == 0)
    server.send(SIGTERM)
    _ = try await server.outcome()
    _ = try await studio.serve(["--port", "\(port)", "--no-advertise", "--bind", "127.0.0.1", "--name", "Dach 100%"])
    let outcome = try await laptop.run("pull")
    #expect(outcome.status == 0)
    #expect(outcome.errors.contains("studio is called Dach 100% now."), "\(outcome.errors)")
    #expect(try await laptop.run("peers").output.contains("Dach 100% "))
    #expect(try await laptop.run("audit").output.contains("peer.renamed"))
    #expect(try await !laptop.run("pull").errors.contains("is called"))
  }

  @Test("serving nothing is said, with what to do")
  func empty() async throws {
    let (server, _) = try await studio.serve(Self.serving + ["studio"])
    try await server.errors(matching: #/The store is empty\. You can fill it with `hpeer import`/#)
  }
}
