import Foundation
import Testing

/// A wall clock that a test can set while the process runs. Timers are not affected.
private struct WallClock {
  let file: String

  init(_ path: String) throws {
    file = path
    try set("+0")
  }

  /// Sets the offset, in libfaketime's notation, such as `+1y` or `-3600`.
  func set(_ offset: String) throws { try Data((offset + "\n").utf8).write(to: URL(fileURLWithPath: file)) }

  /// The command that starts a program with this clock. The faketime program prepares the environment; the library
  /// itself would move the environment away from where the Swift runtime looks for the arguments. It also stays as
  /// the parent, which receives the signals.
  var prefix: [String] {
    Faketime.prefix("+0") + [
      "setpriv", "--pdeathsig", "KILL", "env", "-u", "FAKETIME",
      "FAKETIME_TIMESTAMP_FILE=\(file)", "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1",
    ]
  }

  func host(_ host: Host) -> Host {
    var host = host
    host.prefix = prefix
    return host
  }
}

/// Tests with wrong clocks, and with clocks that are set while hpeer runs.
@Suite(
  .serialized, .enabled(if: Faketime.isAvailable, "faketime is not installed: scripts/setup --tests"),
  .timeLimit(.minutes(10)))
struct ClockTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
  }

  private func serve(_ attic: Host, _ clock: WallClock) async throws -> Int {
    try await attic.hold(.small)
    let server = try clock.host(attic).start(["serve", "--port", "0", "--no-advertise"])
    return try await #require(Int(server.errors(matching: #/on port (\d+)/#).1))
  }

  private func pair(_ laptop: Host, _ attic: Host, _ port: Int) async throws -> Outcome {
    let (code, _) = try await attic.openWindow()
    return try await laptop.run("pair", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code)
  }

  private func pull(_ host: Host, _ port: Int) async throws -> Outcome {
    try await host.run("pull", "--host", "127.0.0.1:\(port)")
  }

  @Test(
    "a client whose clock is off pairs and pulls all the same, and is told",
    arguments: ["+3600", "-3600", "+1y", "-1y"])
  func clientIsOff(_ offset: String) async throws {
    let attic = scratch.host("attic")
    let laptop = scratch.host("laptop")
    let port = try await serve(attic, WallClock(scratch.path + "/clock"))
    let clock = try WallClock(scratch.path + "/laptop-clock")
    try clock.set(offset)
    let paired = try await pair(clock.host(laptop), attic, port)
    #expect(paired.status == 0, "\(paired.errors)")
    #expect(paired.errors.contains("clock is"))
    #expect(paired.errors.contains(offset.hasPrefix("+") ? "ahead of" : "behind"))
    for _ in 0..<2 {
      let pulled = try await pull(clock.host(laptop), port)
      #expect(pulled.status == 0, "\(pulled.errors)")
    }
    #expect(try await laptop.contents() == attic.contents())
    // The clock is put right, and nothing has to be done again.
    #expect(try await pull(laptop, port).status == 0)
    for host in [attic, laptop] { #expect(try await host.run("audit", "verify").status == 0) }
  }

  @Test(
    "a server whose clock jumps a year ahead refuses as expired, says whose clock is off, and is well when it is back")
  func serverJumpsAhead() async throws {
    let attic = scratch.host("attic")
    let laptop = scratch.host("laptop")
    let clock = try WallClock(scratch.path + "/clock")
    let port = try await serve(attic, clock)
    #expect(try await pair(laptop, attic, port).status == 0)
    #expect(try await pull(laptop, port).status == 0)
    try clock.set("+1y")
    let refused = try await pull(laptop, port)
    #expect(refused.status == 4, "\(refused.errors)")
    #expect(refused.errors.contains("behind the other's"))
    try clock.set("+0")
    #expect(try await pull(laptop, port).status == 0)
    #expect(try await attic.run("audit", "verify").status == 0)
  }

  @Test("a clock that is set back neither keeps a window open nor revives a code; tokens and the audit log stay right")
  func serverJumpsBack() async throws {
    let attic = scratch.host("attic")
    let laptop = scratch.host("laptop")
    let clock = try WallClock(scratch.path + "/clock")
    let port = try await serve(attic, clock)
    #expect(try await pair(laptop, attic, port).status == 0)
    #expect(try await pull(laptop, port).status == 0)

    let (code, waiting) = try await attic.openWindow()
    try clock.set("-1d")
    let late = try await scratch.host("other").run(
      "pair", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code)
    #expect(late.status == 7, "\(late.errors)")
    #expect(try await waiting.outcome().status == 7)

    // Seen "tomorrow" by the registry, and yet let in and noted.
    #expect(try await pull(laptop, port).status == 0)
    #expect(try await attic.run("audit", "verify").status == 0)
    try clock.set("+0")
    #expect(try await pair(scratch.host("other"), attic, port).status == 0)
    #expect(try await pull(laptop, port).status == 0)
    #expect(try await attic.run("audit", "verify").status == 0)
    #expect(try await laptop.contents() == attic.contents())
  }
}
