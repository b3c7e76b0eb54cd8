import Foundation
import HealthModel
import HealthStore
import Testing

/// Tests of a read-only backup, whose record can be viewed but not changed.
@Suite(.timeLimit(.minutes(5)), .enabled(if: getuid() == 0, "mounting needs root"))
struct ReadOnlyHomeTests {
  private let scratch: Scratch
  private let home: Host

  init() throws {
    scratch = try Scratch()
    home = scratch.host("home")
  }

  private static let looks = [
    ["types"], ["types", "--json"], ["show", "heartRate"], ["digest"], ["digest", "--deep"], ["peers"],
    ["peers", "--json"],
    ["audit"], ["audit", "verify"],
  ]

  /// Runs `body` with a copy of the home on a read-only file system.
  private func withBackup(without suffix: String, _ body: (Host) async throws -> Void) async throws {
    let backup = scratch.host("backup")
    let mount = """
      cp -a '\(home.home)' '\(backup.home)' && rm -f '\(backup.home)/'*\(suffix) &&
      mount --bind '\(backup.home)' '\(backup.home)' && mount -o remount,bind,ro '\(backup.home)'
      """
    let mounted = try await backup.sh(mount)
    try #require(mounted.status == 0, "\(mounted.errors)")
    let result: Result<Void, any Error>
    do { result = .success(try await body(backup)) } catch { result = .failure(error) }
    #expect(try await backup.sh("umount -l '\(backup.home)'").status == 0)
    try result.get()
  }

  @Test(
    "everything that only looks works as on the disk it came from, log files left behind or not",
    arguments: ["-none", "-shm"])
  func looking(without suffix: String) async throws {
    #expect(try await home.run("import", SampleExport.small.path).status == 0)
    let (_, port) = try await home.serve(["--port", "0", "--no-advertise", "--bind", "127.0.0.1"])
    let (code, _) = try await home.openWindow()
    #expect(
      try await scratch.host("client").run("pair", "--host", "127.0.0.1:\(port)", "--code-stdin", input: code).status
        == 0)
    var expected: [[String]: String] = [:]
    for command in Self.looks { expected[command] = try await home.start(command).outcome().output }
    let export = try await home.run("export", "--format", "csv").output
    // The server has the store open: its log is there.
    try await withBackup(without: suffix) { backup in
      for command in Self.looks where command != ["audit"] && command != ["audit", "verify"] {
        let outcome = try await backup.start(command).outcome()
        #expect(outcome.status == 0, "\(command): \(outcome.errors)")
        #expect(outcome.output == expected[command], "\(command)")
      }
      #expect(try await backup.run("audit").output.contains("pairing.succeeded"))
      #expect(try await backup.run("audit", "verify").status == 0)
      let exported = try await backup.run("export", "--format", "csv")
      #expect(exported.status == 0, "\(exported.errors)")
      #expect(exported.output == export)
      #expect(exported.errors.contains("does not have this export"), "\(exported.errors)")
      let range = ["--types", "heartRate", "--from", "2000-01-01", "--to", "2100-01-01", "--yes"]
      let deleting = try await backup.start(["delete"] + range).outcome()
      #expect(deleting.status == 1)
      #expect(deleting.errors.contains("read-only"), "\(deleting.errors)")
    }
  }
}
