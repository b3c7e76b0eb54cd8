import Foundation
import TestSupport
import Testing

/// Tests of pairing, killed on either side: afterwards the machines are either paired or not, and pairing again
/// works.
@Suite(
  .serialized, .timeLimit(.minutes(10)),
  .enabled(if: FaultyWrites.obstacle == nil, "no C compiler: \(FaultyWrites.obstacle ?? "")"))
struct KillPairingTests {
  private let scratch: Scratch
  private let studio: Host
  private let contents: StoreContents

  init() async throws {
    scratch = try Scratch()
    studio = scratch.host("studio")
    try await studio.hold(.small)
    contents = try await studio.everything()
  }

  private func serve(_ environment: [String: String] = [:]) async throws -> (RunningCommand, port: Int) {
    let server = try studio.start(["serve"] + PairedHomes.serveArguments, environment: environment)
    let match = try await server.errors(matching: #/on port (\d+)/#)
    return (server, try #require(Int(match.1)))
  }

  private func pair(_ laptop: Host, _ port: Int, code: String, _ environment: [String: String] = [:]) async throws
    -> Outcome
  {
    try await laptop.run(
      "pair", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code, environment: environment)
  }

  private func fresh(_ name: String) -> Host {
    let host = scratch.host(name)
    try? FileManager.default.removeItem(atPath: host.home)
    return host
  }

  /// Expects that client and server agree about the pairing, and that pairing again gives access.
  private func expectSound(_ laptop: Host, _ port: Int, after point: FaultyWrites.Point) async throws {
    let host = "127.0.0.1:\(port)"
    let known = try await laptop.run("peers", "--json")
    let servers = known.status == 0 ? try known.json()["servers"] as? [[String: Any]] ?? [] : []
    let pull = try await laptop.run("pull", "--host", host, "--code-stdin", input: "")
    if servers.isEmpty {
      #expect(pull.status != 0, "\(point): read without being paired")
      #expect(try await laptop.sampleCount() == 0, "\(point)")
    } else {
      #expect(pull.status == 0, "\(point): paired for the client only: \(pull.errors)")
    }
    let (code, _) = try await studio.openWindow()
    let paired = try await pair(laptop, port, code: code)
    #expect(paired.status == 0, "\(point): \(paired.errors)")
    let again = try await laptop.run("pull", "--host", host)
    #expect(again.status == 0, "\(point): \(again.errors)")
    try await laptop.expect(contents, after: point)
    let clients = try await studio.run("peers", "--json").json()["clients"] as? [[String: Any]] ?? []
    #expect(Set(clients.compactMap { $0["id"] as? String }).count == clients.count)
  }

  @Test("the client is killed: identity, registry and audit log")
  func client() async throws {
    let (_, port) = try await serve()
    var laptop = fresh("laptop")
    let path = scratch.path + "/log"
    let (code, _) = try await studio.openWindow()
    let logging = try FaultyWrites.environment(home: laptop.home, log: path)
    #expect(try await pair(laptop, port, code: code, logging).status == 0)
    var random = SeededGenerator(seed: 51)
    let log = try WriteLog(path)
    let points =
      log.boundaries.filter { $0.kind == .after } + log.beginnings.filter { $0.kind == .after }
      + log.steps.shuffled(using: &random).prefix(4).map { .init(call: $0.number, kind: .torn) }
    var kills = 0
    for point in points {
      laptop = fresh("laptop")
      let (code, _) = try await studio.openWindow()
      let environment = try FaultyWrites.environment(home: laptop.home, at: point)
      guard try await pair(laptop, port, code: code, environment).status == 128 + SIGKILL else { continue }
      kills += 1
      try await expectSound(laptop, port, after: point)
    }
    #expect(kills >= points.count - 3)
    #expect(try await studio.run("audit", "verify").status == 0)
  }

  @Test("the server is killed: window, registry and audit log")
  func server() async throws {
    let condition = scratch.path + "/now"
    let path = scratch.path + "/log"
    let (counted, countedPort) = try await serve(
      FaultyWrites.environment(home: studio.home, log: path, while: condition))
    try Data().write(to: URL(fileURLWithPath: condition))
    let (code, _) = try await studio.openWindow()
    #expect(try await pair(fresh("laptop"), countedPort, code: code).status == 0)
    _ = try await eventually("the audit log has it") {
      try await studio.auditEvents().contains { $0.event == "window.closed" } ? true : nil
    }
    try await counted.end()
    var random = SeededGenerator(seed: 52)
    let log = try WriteLog(path)
    let points =
      log.boundaries.filter { $0.kind != .before }
      + log.steps.shuffled(using: &random).prefix(4).map { .init(call: $0.number, kind: .after) }
    for point in points {
      try FileManager.default.removeItem(atPath: condition)
      let laptop = fresh("laptop")
      let (server, port) = try await serve(
        FaultyWrites.environment(home: studio.home, at: point, while: condition))
      try Data().write(to: URL(fileURLWithPath: condition))
      if let (code, _) = try? await studio.openWindow() {
        let outcome = try await pair(laptop, port, code: code)
        #expect(outcome.errors.split(separator: "\n").count == 1, "\(point): \(outcome.errors)")
      }
      try await server.end()
      let (next, nextPort) = try await serve()
      try await expectSound(laptop, nextPort, after: point)
      try await next.end()
      #expect(try await studio.run("audit", "verify").status == 0)
    }
  }
}
