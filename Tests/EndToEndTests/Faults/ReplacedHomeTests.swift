import Foundation
import Testing

/// Tests of a home that is replaced by a backup or deleted while a command runs.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ReplacedHomeTests {
  private let scratch: Scratch
  private let home: Host
  private var backup: String { scratch.path + "/health.tar.zst" }

  init() async throws {
    scratch = try Scratch()
    home = scratch.host("home")
    try await home.hold(.small)
  }

  private func backUp() async throws {
    let made = try await home.run("backup", "--unencrypted", backup)
    #expect(made.status == 0, "\(made.errors)")
  }

  @Test(
    "restore --replace waits for nobody who writes, and says who that is",
    .enabled(if: FaultyWrites.obstacle == nil, "no C compiler: \(FaultyWrites.obstacle ?? "")"))
  func restoredWhileImporting() async throws {
    try await backUp()
    let export = try await SampleExport.large.path
    let before = try await home.committedSamples()
    let held = try await HeldCommand(["import", export, "--json"], on: home) {
      try await home.committedSamples() > before
    }
    let refused = try await home.run("restore", "--replace", backup)
    #expect(refused.status == 11, "\(refused.errors)")
    #expect(refused.errors.contains("hpeer import (process \(held.command.pid))"), "\(refused.errors)")
    #expect(refused.errors.split(separator: "\n").count == 1, "\(refused.errors)")
    try held.release()
    let imported = try await held.command.outcome()
    #expect(imported.status == 0, "\(imported.errors)")
    let reference = scratch.host("reference")
    try await reference.hold(.small)
    #expect(try await reference.run("import", export).status == 0)
    try await home.expect(reference.everything(), after: "a restore that was refused")
    // And it can be done then, twice within a second too.
    for _ in 0..<2 {
      let restored = try await home.run("restore", "--replace", backup)
      #expect(restored.status == 0, "\(restored.errors)")
    }
    #expect(try await home.sampleCount() > 0)
  }

  @Test("a server whose home is deleted ends at once, and says so")
  func deletedWhileServing() async throws {
    let (server, _) = try await home.serve(["--port", "0", "--no-advertise"])
    try FileManager.default.removeItem(atPath: home.home)
    let outcome = try await server.outcome(within: .seconds(30))
    #expect(outcome.status != 0)
    #expect(outcome.errors.contains("was deleted, moved away or replaced while it was in use"), "\(outcome.errors)")
    #expect(!FileManager.default.fileExists(atPath: home.home))
  }

  @Test(
    "an import whose home is deleted does not end well",
    .enabled(if: FaultyWrites.obstacle == nil, "no C compiler: \(FaultyWrites.obstacle ?? "")"))
  func deletedWhileImporting() async throws {
    let export = try await SampleExport.large.path
    let before = try await home.committedSamples()
    let held = try await HeldCommand(["import", export], on: home) { try await home.committedSamples() > before }
    try FileManager.default.moveItem(atPath: home.home, toPath: home.home + ".moved")
    try held.release()
    let outcome = try await held.command.outcome()
    #expect(outcome.status != 0, "\(outcome.output)")
    #expect(outcome.errors.contains("was deleted, moved away or replaced"), "\(outcome.errors)")
  }

  @Test("what only looks makes nothing on a new machine, and a backup can be restored there")
  func lookedAtFirst() async throws {
    try await backUp()
    let new = scratch.host("new")
    for command in [["status"], ["peers"], ["inbox", "list"], ["verify"], ["discover", "--timeout", "1"], ["types"]] {
      let outcome = try await new.start(command).outcome()
      #expect(outcome.errors.split(separator: "\n").count <= 2, "\(command): \(outcome.errors)")
      #expect(!FileManager.default.fileExists(atPath: new.home), "\(command)")
    }
    // What writes, and never had a peer or a sample, is in nobody's way.
    #expect(try await new.run("lock").status == 0)
    let restored = try await new.run("restore", backup)
    #expect(restored.status == 0, "\(restored.errors)")
    #expect(try await new.run("digest").output == home.run("digest").output)
    // What has a sample is.
    let refused = try await new.run("restore", backup)
    #expect(refused.status == 2 && refused.errors.contains("--replace"), "\(refused.errors)")
  }
}
