import Foundation
import Testing

/// Tests with another program that holds the store's write lock, briefly or permanently.
@Suite(
  .serialized, .timeLimit(.minutes(5)),
  .enabled(if: FaultyWrites.obstacle == nil, "no C compiler: \(FaultyWrites.obstacle ?? "")"))
struct LockedStoreTests {
  private let homes: PairedHomes
  private let server: RunningCommand

  init() async throws {
    homes = try await PairedHomes(export: .small)
    let port: Int
    (server, port) = try await homes.serve()
    try await homes.remember(port: port)
  }

  /// Takes the lock and holds it until the returned command is ended.
  private func lock(_ file: String, of host: Host) async throws -> RunningCommand {
    let script = """
      import sqlite3, sys, time
      connection = sqlite3.connect(sys.argv[1], isolation_level=None)
      connection.execute('BEGIN IMMEDIATE')
      print('locked', file=sys.stderr, flush=True)
      time.sleep(600)
      """
    let holder = try RunningCommand(["python3", "-c", script, host.home + "/" + file])
    homes.scratch.keep(holder)
    try await holder.errors(matching: #/locked/#)
    return holder
  }

  @Test("for a moment: the command waits and does its work", arguments: ["import", "pull", "delete"])
  func briefly(_ command: String) async throws {
    let host = command == "pull" ? homes.laptop : homes.studio
    let holder = try await lock("store.sqlite", of: host)
    let running = try await host.start(arguments(command))
    try await Task.sleep(for: .milliseconds(700))
    try await holder.end()
    let outcome = try await running.outcome()
    #expect(outcome.status == 0, "\(outcome.errors)")
    if command == "pull" { try await host.expect(homes.contents, after: command) }
  }

  @Test("for longer than the time limit: code 11 and one sentence", arguments: ["import", "pull", "delete"])
  func forGood(_ command: String) async throws {
    let host = command == "pull" ? homes.laptop : homes.studio
    let before = try await host.everything()
    let holder = try await lock("store.sqlite", of: host)
    let hurry = try FaultyWrites.environment(home: host.home, isHurried: true)
    let outcome = try await host.start(arguments(command), environment: hurry).outcome()
    #expect(outcome.status == 11, "\(outcome.errors)")
    // It says whom it waits for, and then that it gave up.
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines.count == 2, "\(outcome.errors)")
    #expect(lines.first?.hasPrefix("Waiting for ") == true, "\(outcome.errors)")
    if FileManager.default.fileExists(atPath: "/proc/locks") {
      #expect(lines.first?.contains("(process \(holder.pid))") == true, "\(outcome.errors)")
    }
    #expect(lines.last?.contains("wait for it to finish") == true, "\(outcome.errors)")
    try await holder.end()
    try await host.expect(before, after: command)
    #expect(try await host.start(arguments(command)).outcome().status == 0)
  }

  @Test("the list of paired machines: code 11 and one sentence")
  func registry() async throws {
    let holder = try await lock("peers.sqlite", of: homes.laptop)
    let hurry = try FaultyWrites.environment(home: homes.laptop.home, isHurried: true)
    let outcome = try await homes.laptop.start(["pull"], environment: hurry).outcome()
    #expect(outcome.status == 11, "\(outcome.errors)")
    #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
    try await holder.end()
    #expect(try await homes.laptop.run("pull").status == 0)
    try await homes.laptop.expect(homes.contents, after: "a locked registry")
  }

  @Test("the server's store: nothing is read that cannot be written down, and the client may try again")
  func server() async throws {
    try await server.end()
    let (_, port) = try await homes.serve(FaultyWrites.environment(home: homes.studio.home, isHurried: true))
    let holder = try await lock("store.sqlite", of: homes.studio)
    let refused = try await homes.laptop.run("pull", "--host", "127.0.0.1:\(port)")
    #expect(refused.status == 5, "\(refused.errors)")
    #expect(try await homes.laptop.sampleCount() == 0)
    try await holder.end()
    #expect(try await homes.laptop.run("pull", "--host", "127.0.0.1:\(port)").status == 0)
    try await homes.laptop.expect(homes.contents, after: "a locked server")
  }

  @Test("Ctrl-C does not wait for the lock", arguments: ["import", "pull", "delete"])
  func interrupted(_ command: String) async throws {
    let host = command == "pull" ? homes.laptop : homes.studio
    let holder = try await lock("store.sqlite", of: host)
    let running = try await host.start(arguments(command))
    try await running.errors(matching: #/Waiting for /#)
    running.send(SIGINT)
    let outcome = try await running.outcome(within: .seconds(15))
    #expect(outcome.status == 130, "\(outcome.errors)")
    try await holder.end()
    #expect(try await host.start(arguments(command)).outcome().status == 0)
  }

  private func arguments(_ command: String) async throws -> [String] {
    switch command {
    case "import": ["import", try await SampleExport.smallLater.path]
    case "pull": ["pull"]
    default: ["delete", "--type", "heartRate", "--from", "2000-01-01", "--to", "2100-01-01", "--yes"]
    }
  }
}
