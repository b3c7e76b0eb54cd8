import Foundation
import TestSupport
import Testing

/// Tests of Ctrl-C and SIGTERM at random instants: the process ends cleanly, and the same command continues the work.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct SignalTests {
  /// Sends a random signal after a random time and checks how the process ends. Returns whether the signal came
  /// before the process ended.
  ///
  /// If the process has not yet installed its handlers, the kernel ends it, with an exit code of 128 plus the
  /// signal's number.
  private func interrupt(
    _ command: RunningCommand, within limit: Duration, using random: inout SeededGenerator
  ) async throws -> Bool {
    let signal = random.pick([SIGINT, SIGTERM])
    let delay = limit * Double.random(in: 0...1, using: &random)
    try await Task.sleep(for: delay)
    command.send(signal)
    let outcome = try await command.outcome(within: .seconds(30))
    let what = "signal \(signal) after \(delay)"
    #expect([0, 130, 128 + signal].contains(outcome.status), "\(what): \(outcome.status) \(outcome.errors)")
    #expect(!outcome.errors.contains(#/[Ff]atal|[Bb]acktrace|Crash/#), "\(what): \(outcome.errors)")
    #expect(outcome.errors.split(separator: "\n").count <= 1, "\(what): \(outcome.errors)")
    return outcome.status != 0
  }

  @Test("import")
  func importing() async throws {
    let scratch = try Scratch()
    let (home, reference) = (scratch.host("home"), scratch.host("reference"))
    let export = try await SampleExport.large.path
    let start = ContinuousClock.now
    #expect(try await reference.run("import", export).status == 0)
    let undisturbed = ContinuousClock.now - start
    var random = SeededGenerator(seed: 71)
    for _ in 0..<10 {
      _ = try await interrupt(home.start(["import", export]), within: undisturbed, using: &random)
    }
    #expect(try await home.run("import", export).status == 0)
    try await home.expect(reference.everything(), after: "signals")
  }

  @Test("pull")
  func pulling() async throws {
    let homes = try await PairedHomes(export: .medium, deleting: "stepCount")
    let (_, port) = try await homes.serve()
    try await homes.remember(port: port)
    let first = try homes.laptop.copy("first")
    let start = ContinuousClock.now
    #expect(try await first.run("pull").status == 0)
    let undisturbed = ContinuousClock.now - start
    var random = SeededGenerator(seed: 72)
    for _ in 0..<8 {
      let laptop = try homes.laptop.copy("trial")
      _ = try await interrupt(laptop.start(["pull"]), within: undisturbed, using: &random)
      #expect(try await laptop.run("pull").status == 0)
      try await laptop.expect(homes.contents, after: "a signal")
    }
  }

  @Test("serve, while it starts, rests and streams; and the puller is told")
  func serving() async throws {
    let homes = try await PairedHomes(export: .medium)
    var random = SeededGenerator(seed: 73)
    for _ in 0..<4 {
      let starting = try homes.studio.start(["serve"] + PairedHomes.serveArguments)
      let signal = random.pick([SIGINT, SIGTERM])
      try await Task.sleep(for: .milliseconds(Int.random(in: 0...250, using: &random)))
      starting.send(signal)
      let outcome = try await starting.outcome(within: .seconds(30))
      #expect([0, 130, 128 + signal].contains(outcome.status), "\(outcome.status) \(outcome.errors)")
      #expect(!outcome.errors.contains(#/[Ff]atal|[Bb]acktrace|Crash/#), "\(outcome.errors)")
    }
    for _ in 0..<4 {
      let (server, port) = try await homes.serve()
      let laptop = try homes.laptop.copy("trial")
      let pull = try laptop.start(["pull", "--host", "127.0.0.1:\(port)"])
      try await Task.sleep(for: .milliseconds(Int.random(in: 50...500, using: &random)))
      server.send(random.pick([SIGINT, SIGTERM]))
      let stopped = try await server.outcome(within: .seconds(30))
      #expect(stopped.status == 0, "\(stopped.errors)")
      #expect(stopped.errors.contains("Goodbye"))
      // Requests in flight are answered first.
      let pulled = try await pull.outcome()
      #expect([0, 3, 5, 12].contains(pulled.status), "\(pulled.errors)")
      let (next, nextPort) = try await homes.serve()
      #expect(try await laptop.run("pull", "--host", "127.0.0.1:\(nextPort)").status == 0)
      try await laptop.expect(homes.contents, after: "a server that was stopped")
      try await next.end()
    }
    #expect(try await homes.studio.run("audit", "verify").status == 0)
  }

  @Test("pair")
  func pairing() async throws {
    let homes = try await PairedHomes(export: .small)
    let (_, port) = try await homes.serve()
    var random = SeededGenerator(seed: 74)
    let arguments = ["pair", "--host", "127.0.0.1:\(port)", "--code-stdin"]
    for number in 0..<4 {
      let client = homes.scratch.host("client-\(number)")
      let (code, _) = try await homes.studio.openWindow()
      let pair = try client.start(arguments, input: code)
      _ = try await interrupt(pair, within: .milliseconds(300), using: &random)
      let (next, _) = try await homes.studio.openWindow()
      let paired = try await client.start(arguments, input: next).outcome()
      #expect(paired.status == 0, "\(paired.errors)")
      #expect(try await client.run("pull").status == 0)
      try await client.expect(homes.contents, after: "a signal")
    }
  }
}
