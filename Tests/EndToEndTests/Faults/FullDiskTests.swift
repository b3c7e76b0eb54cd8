import Foundation
import TestSupport
import Testing

/// Tests of a disk that fills up at any point: a single sentence, no loss, and the same command succeeds when there
/// is space again.
@Suite(
  .serialized, .timeLimit(.minutes(10)),
  .enabled(if: FaultyWrites.obstacle == nil, "no C compiler: \(FaultyWrites.obstacle ?? "")"))
struct FullDiskTests {
  /// Expects that a command recovers from a full disk at each point.
  private func expectRecovery(_ trial: KillTrial, points count: Int, seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    for point in try await trial.log().allocations(count, using: &random) {
      let host = try trial.fresh()
      let environment = try FaultyWrites.environment(home: host.home, at: point)
      let full = try await host.start(trial.command, input: trial.input, environment: environment).outcome()
      // What only tidies up may be left undone.
      if full.status != 0 {
        #expect(full.status == 1, "\(point): \(full.status) \(full.errors)")
        #expect(full.errors.split(separator: "\n").count == 1, "\(point): \(full.errors)")
        #expect(full.errors.contains(#/full|No space/#), "\(point): \(full.errors)")
      }
      let again = try await host.start(trial.command, input: trial.input).outcome()
      #expect(again.status == 0, "\(point): \(again.errors)")
      try await host.expect(trial.expected, after: point)
    }
  }

  @Test("full anywhere in the first import of all")
  func importing() async throws {
    let scratch = try Scratch()
    let export = try await SampleExport.small.path
    let reference = scratch.host("reference")
    #expect(try await reference.run("import", export).status == 0)
    let trial = KillTrial(
      template: nil, scratch: scratch, command: ["import", export], expected: try await reference.everything())
    try await expectRecovery(trial, points: 15, seed: 61)
  }

  @Test("full anywhere in a pull")
  func pulling() async throws {
    let homes = try await PairedHomes(export: .medium, deleting: "stepCount")
    let (_, port) = try await homes.serve()
    try await homes.remember(port: port)
    let trial = KillTrial(
      template: homes.laptop, scratch: homes.scratch, command: ["pull"], expected: homes.contents)
    try await expectRecovery(trial, points: 12, seed: 62)
  }

  /// A script that prints the response for the client of a certificate-bound token, and then the status. curl can't
  /// offer a custom ALPN protocol.
  private static let get = """
    import http.client, ssl, sys
    address, identity, credential, path = sys.argv[1:]
    context = ssl._create_unverified_context()
    context.load_cert_chain(identity + "/certificate.pem", identity + "/key.pem")
    context.set_alpn_protocols(["hpeer/1", "http/1.1"])
    connection = http.client.HTTPSConnection(address, context=context)
    connection.request("GET", path, headers={"Authorization": "Bearer " + credential})
    answer = connection.getresponse()
    print(answer.read().decode())
    print(answer.status)
    """

  @Test("full on the server: nothing is read that the audit log cannot hold")
  func serving() async throws {
    let homes = try await PairedHomes(export: .small)
    let condition = homes.scratch.path + "/full"
    let (server, port) = try await homes.serve(
      FaultyWrites.environment(
        home: homes.studio.home, at: .init(call: 1, kind: .full), while: condition))
    let host = "127.0.0.1:\(port)"
    // Now the server has noted when the client was last seen, which it does once a minute.
    #expect(try await homes.laptop.run("pull", "--host", host).status == 0)
    #expect(try await homes.studio.run("import", SampleExport.smallLater.path).status == 0)
    let before = try await homes.laptop.everything()
    let events = try await homes.studio.auditEvents().count

    try Data().write(to: URL(fileURLWithPath: condition))
    let refused = try await homes.laptop.run("pull", "--host", host)
    #expect(refused.status == 5, "\(refused.errors)")
    #expect(refused.errors.split(separator: "\n").count == 1, "\(refused.errors)")
    #expect(try await homes.laptop.everything() == before)
    let token = try await homes.laptop.sh("sqlite3 '\(homes.laptop.home)/peers.sqlite' 'SELECT credential FROM server'")
    let credential = token.output.trimmingCharacters(in: .whitespacesAndNewlines)
    for path in ["health/types", "health/data?type=heartRate", "api/v2/changes"] {
      let answer = try await RunningCommand(
        ["python3", "-c", Self.get, host, homes.laptop.home + "/identity", credential, "/" + path]
      ).outcome()
      #expect(answer.lastLine == "503", "\(path)")
      #expect(answer.output.contains(#""success":false"#), "\(path): \(answer.output.prefix(200))")
    }
    #expect(server.errors.contains("full"), "the owner is told: \(server.errors)")

    try FileManager.default.removeItem(atPath: condition)
    #expect(try await homes.laptop.run("pull", "--host", host).status == 0)
    try await homes.laptop.expect(homes.studio.everything(), after: "a full disk")
    let new = try await homes.studio.auditEvents().dropFirst(events)
    let reads = new.count { $0.event == "data.read" }
    #expect(reads == 1)
    #expect(try await homes.studio.run("audit", "verify").status == 0)
  }

  @Test("full while pairing, on the server: no window without room for its count, no client without room for it")
  func pairingServer() async throws {
    let homes = try await PairedHomes(export: .small)
    let condition = homes.scratch.path + "/full"
    let (_, port) = try await homes.serve(
      FaultyWrites.environment(
        home: homes.studio.home, at: .init(call: 1, kind: .full), while: condition))
    let other = homes.scratch.host("other")
    let arguments = ["pair", "--host", "127.0.0.1:\(port)", "--code-stdin"]

    try Data().write(to: URL(fileURLWithPath: condition))
    let closed = try await homes.studio.run("pair", "--wait")
    #expect(closed.status == 1)
    #expect(closed.errors.contains("cannot be written"), "\(closed.errors)")

    try FileManager.default.removeItem(atPath: condition)
    let (code, _) = try await homes.studio.openWindow()
    try Data().write(to: URL(fileURLWithPath: condition))
    let refused = try await other.start(arguments, input: code).outcome()
    #expect(refused.status == 5, "\(refused.errors)")
    #expect(try await other.run("pull", "--host", "127.0.0.1:\(port)", "--code-stdin", input: "").status != 0)

    try FileManager.default.removeItem(atPath: condition)
    let (again, _) = try await homes.studio.openWindow()
    let paired = try await other.start(arguments, input: again).outcome()
    #expect(paired.status == 0, "\(paired.errors)")
    #expect(try await other.run("pull", "--host", "127.0.0.1:\(port)").status == 0)
    try await other.expect(homes.contents, after: "a full disk")
  }

  @Test("full while the first run makes its identity and pairs")
  func pairingClient() async throws {
    let homes = try await PairedHomes(export: .small)
    let (_, port) = try await homes.serve()
    let path = homes.scratch.path + "/log"
    let counted = homes.scratch.host("counted")
    let arguments = ["pair", "--host", "127.0.0.1:\(port)", "--code-stdin"]
    let (code, _) = try await homes.studio.openWindow()
    let logging = try FaultyWrites.environment(home: counted.home, log: path)
    #expect(try await counted.start(arguments, input: code, environment: logging).outcome().status == 0)
    var random = SeededGenerator(seed: 63)
    for point in try WriteLog(path).allocations(10, using: &random) {
      let host = homes.scratch.host("client-\(point.call)")
      let (code, _) = try await homes.studio.openWindow()
      let environment = try FaultyWrites.environment(home: host.home, at: point)
      let full = try await host.start(arguments, input: code, environment: environment).outcome()
      if full.status != 0 {
        #expect(full.status == 1, "\(point): \(full.errors)")
        #expect(full.errors.split(separator: "\n").count == 1, "\(point): \(full.errors)")
        #expect(full.errors.contains(#/full|No space/#), "\(point): \(full.errors)")
      }
      let (next, _) = try await homes.studio.openWindow()
      let paired = try await host.start(arguments, input: next).outcome()
      #expect(paired.status == 0, "\(point): \(paired.errors)")
      #expect(try await host.run("pull").status == 0)
      try await host.expect(homes.contents, after: point)
    }
  }
}
