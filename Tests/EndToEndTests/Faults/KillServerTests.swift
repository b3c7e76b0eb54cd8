import Foundation
import TestSupport
import Testing

/// Tests of `hpeer serve`, killed during a pull.
@Suite(
  .serialized, .timeLimit(.minutes(10)),
  .enabled(if: FaultyWrites.obstacle == nil, "no C compiler: \(FaultyWrites.obstacle ?? "")"))
struct KillServerTests {
  private let homes: PairedHomes

  init() async throws {
    homes = try await PairedHomes(export: .medium, deleting: "stepCount")
  }

  /// Pulls to a new client from a server that meets its fault, then from a healthy server. Returns whether the server
  /// was killed.
  private func trial(_ point: FaultyWrites.Point) async throws -> Bool {
    let laptop = try homes.laptop.copy("trial")
    let environment = try FaultyWrites.environment(home: homes.studio.home, at: point)
    var killed = false
    let events = try await homes.studio.auditEvents().count
    // It may be killed before it listens.
    if let (server, port) = try? await homes.serve(environment) {
      let cut = try await laptop.run("pull", "--host", "127.0.0.1:\(port)")
      #expect([0, 3, 5, 12].contains(cut.status), "\(point): \(cut.status) \(cut.errors)")
      #expect(cut.errors.split(separator: "\n").count <= 1, "\(point): \(cut.errors)")
      // Whoever got something is in the log, whatever became of the server.
      if try await laptop.sampleCount() > 0 {
        let new = try await homes.studio.auditEvents().dropFirst(events)
        #expect(
          new.contains { ["read.started", "data.read"].contains($0.event) }, "\(point): an access without a trace")
      }
      // A fault that comes later than the pull: the server is then killed at rest.
      server.send(SIGKILL)
      killed = try await server.outcome().status == 128 + SIGKILL
    }
    let (server, port) = try await homes.serve()
    let again = try await laptop.run("pull", "--host", "127.0.0.1:\(port)")
    #expect(again.status == 0, "\(point): \(again.errors)")
    try await laptop.expect(homes.contents, after: point)
    try await homes.studio.expect(homes.contents, after: point)
    try await server.end()
    return killed
  }

  /// Returns the calls of a server that starts and serves a single pull.
  private func log(_ counted: FaultyWrites.Point.Counted) async throws -> WriteLog {
    let path = homes.scratch.path + "/log-" + UUID().uuidString
    let never = FaultyWrites.Point(call: 0, kind: .before, counted: counted)
    let (server, port) = try await homes.serve(
      FaultyWrites.environment(home: homes.studio.home, at: never, log: path))
    #expect(try await homes.laptop.copy("trial").run("pull", "--host", "127.0.0.1:\(port)").status == 0)
    try await server.end()
    return try WriteLog(path)
  }

  @Test("killed while it streams")
  func streaming() async throws {
    let packets = try await log(.packets).calls.count
    try #require(packets > 10)
    var random = SeededGenerator(seed: 31)
    for _ in 0..<10 {
      let call = Int.random(in: 1...packets, using: &random)
      #expect(try await trial(.init(call: call, kind: random.pick([.before, .torn]), counted: .packets)))
    }
  }

  @Test("killed while it writes down who reads, and that it was used")
  func writing() async throws {
    let log = try await log(.writes)
    try #require(log.commits.count >= 3, "the start, the access and its end")
    var random = SeededGenerator(seed: 32)
    for point in log.points(log.boundaries.count + 3, using: &random) { _ = try await trial(point) }
  }
}
