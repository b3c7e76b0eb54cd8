import Foundation
import Testing

/// Tests with hostile text in every place where the commands show text from elsewhere.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct HostileNameTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
  }

  /// The hostile name as an SQL expression, because SQL has no escapes.
  private var quoted: String {
    "CAST(x'\(HostileText.name.utf8.map { String(format: "%02x", $0) }.joined())' AS TEXT)"
  }

  @Test("the names of peers, in every list, sentence and log")
  func peers() async throws {
    let home = scratch.host("home")
    let client = scratch.host("client")
    let (server, port) = try await home.serve([
      "--port", "0", "--no-advertise", "--bind", "127.0.0.1", "--name", HostileText.name,
    ])
    let (code, _) = try await home.openWindow()
    let paired = try await client.run("pull", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code)
    #expect(paired.status == 0, "\(paired.errors)")
    paired.expectPlain("pull")

    // What a newer or broken version may have let into the lists.
    for (host, table) in [(home, "client"), (client, "server")] {
      let set = try await host.sh("sqlite3 '\(host.home)/peers.sqlite' \"UPDATE \(table) SET name = \(quoted)\"")
      try #require(set.status == 0, "\(set.errors)")
    }
    for (host, arguments) in [
      (home, ["peers"]), (home, ["peers", "--json"]), (client, ["peers"]), (client, ["peers", "--json"]),
      (client, ["pull"]), (client, ["pull", "--all"]), (client, ["pull", "--json"]), (client, ["audit"]),
      (client, ["audit", "--json"]), (home, ["peers", "set", HostileText.name, "--all-types"]),
      (home, ["revoke", HostileText.name]), (home, ["audit"]), (home, ["audit", "--json"]),
    ] {
      let outcome = try await host.start(arguments).outcome()
      #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
      #expect(!outcome.output.isEmpty || !outcome.errors.isEmpty)
      outcome.expectPlain("\(arguments)")
    }
    for arguments in [["pull"], ["pull", "--all"], ["pull", HostileText.name + "?"], ["unpair", HostileText.name]] {
      let outcome = try await client.start(arguments).outcome()
      outcome.expectPlain("\(arguments)")
      #expect(outcome.status != 0 || arguments[0] == "unpair", "\(arguments): \(outcome.errors)")
      #expect(!outcome.errors.isEmpty)
    }
    server.send(SIGTERM)
    try await server.outcome().expectPlain("serve")
  }

  @Test("another certificate at a peer's address: the one message with several lines")
  func certificateChanged() async throws {
    let home = scratch.host("home")
    let client = scratch.host("client")
    let (server, port) = try await home.serve(["--port", "0", "--no-advertise", "--bind", "127.0.0.1"])
    let (code, _) = try await home.openWindow()
    #expect(
      try await client.run("pair", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code).status == 0)
    let changed = try await client.sh(
      "sqlite3 '\(client.home)/peers.sqlite' \"UPDATE server SET name = \(quoted), fingerprint = zeroblob(32)\"")
    try #require(changed.status == 0, "\(changed.errors)")
    let outcome = try await client.run("pull", environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent"])
    #expect(outcome.status == 8, "\(outcome.errors)")
    outcome.expectPlain("pull")
    #expect(outcome.errors.contains("shown now:"))
    server.send(SIGTERM)
    _ = try await server.outcome()
  }

  @Test("what an export says of sources, units and types, and what its file is called")
  func export() async throws {
    let home = scratch.host("home")
    // XML itself has no ESC, but it has C1 controls, overrides and character references.
    let text = "evil&#27;[31m&#7;&#10;\u{202E}\u{9B}2J\u{85}\u{2028}\u{200B}"
    let xml = """
      <?xml version="1.0" encoding="UTF-8"?>
      <HealthData locale="en">
       <Record type="HKQuantityTypeIdentifierStepCount" sourceName="\(text)" sourceVersion="\(text)" device="\(text)" \
      unit="\(text)" creationDate="2024-01-01 10:00:00 +0000" startDate="2024-01-01 10:00:00 +0000" \
      endDate="2024-01-01 10:01:00 +0000" value="7"/>
       <Record type="HKQuantityTypeIdentifier\(text)" sourceName="x" unit="count" \
      creationDate="2024-01-01 10:00:00 +0000" startDate="2024-01-01 10:00:00 +0000" \
      endDate="2024-01-01 10:01:00 +0000" value="7"/>
       <Record type="HKQuantityTypeIdentifierStepCount" sourceName="x" unit="count" startDate="\(text)" value="\(text)"/>
      </HealthData>
      """
    let path = scratch.path + "/evil\u{1B}[31m\u{9B}2J\u{202E}.xml"
    try Data(xml.utf8).write(to: URL(fileURLWithPath: path))
    for arguments in [
      ["import", path], ["import", path, "--json"], ["types"], ["types", "--json"], ["show", "stepCount"],
      ["show", "stepCount", "--json"], ["audit"], ["audit", "--json"], ["import", path + "\u{7}"],
      ["import", scratch.path + "/\u{1B}c"],
    ] {
      let outcome = try await home.start(arguments).outcome()
      #expect(!outcome.output.isEmpty || !outcome.errors.isEmpty, "\(arguments)")
      outcome.expectPlain("\(arguments)")
    }
  }
}
