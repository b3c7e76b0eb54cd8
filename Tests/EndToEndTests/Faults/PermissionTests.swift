import Foundation
import Testing

/// Tests of a home that can't be written: exit code 1, a single sentence, and no change.
@Suite(
  .serialized, .timeLimit(.minutes(5)),
  .enabled(if: Unprivileged.obstacle == nil, "\(Unprivileged.obstacle ?? "")"))
struct PermissionTests {
  private let scratch: Scratch
  /// A host whose commands run without root's right to bypass permissions.
  private let home: Host

  init() async throws {
    scratch = try Scratch()
    home = Host(home: scratch.path + "/home", scratch: scratch, prefix: Unprivileged.prefix)
    try await home.hold(.small)
  }

  private func digest() async throws -> String {
    try await RunningCommand(["bash", "-c", "cd '\(home.home)' && sha256sum store.sqlite"])
      .outcome().output
  }

  private func expectRefusals(_ commands: [[String]]) async throws {
    for command in commands {
      let outcome = try await home.start(command).outcome()
      #expect(outcome.status == 1, "\(command): \(outcome.status) \(outcome.errors)")
      #expect(outcome.errors.split(separator: "\n").count == 1, "\(command): \(outcome.errors)")
      #expect(outcome.errors.contains(#/[Pp]ermission|[Rr]ead-only/#), "\(command): \(outcome.errors)")
    }
  }

  private func commands() async throws -> [[String]] {
    [
      ["import", try await SampleExport.smallLater.path], ["types"], ["serve", "--port", "0", "--no-advertise"],
      ["pull", "--host", "127.0.0.1:1"],
      ["delete", "--type", "heartRate", "--from", "2000-01-01", "--to", "2100-01-01", "--yes"],
    ]
  }

  @Test("the store and its locks belong to somebody else by now")
  func store() async throws {
    let contents = try await home.everything()
    try await eventually("the store is closed") {
      FileManager.default.contents(atPath: home.home + "/store.sqlite-wal")?.isEmpty == false ? nil : true
    }
    let before = try await digest()
    #expect(
      try await home.sh("chmod 000 '\(home.home)'/*.sqlite '\(home.home)'/*.lock '\(home.home)'/.*.lock").status <= 1)
    try await expectRefusals(commands())
    #expect(
      try await RunningCommand(["bash", "-c", "chmod 600 '\(home.home)'/*.* '\(home.home)'/.*.lock"]).outcome().status
        <= 1)
    #expect(try await digest() == before)
    #expect(try await home.run("import", SampleExport.small.path).lastLine.hasPrefix("0 samples added"))
    try await home.expect(contents, after: "permission lost")
  }

  @Test("a folder that cannot be entered is not taken for one without a store")
  func closedFolder() async throws {
    let folder = scratch.path + "/closed"
    #expect(try await home.sh("mkdir '\(folder)' && cp -a '\(home.home)' '\(folder)/home'").status == 0)
    let host = Host(home: folder + "/home", scratch: scratch, prefix: Unprivileged.prefix)
    for (closed, mode) in [(host.home, "700"), (folder, "755")] {
      #expect(try await host.sh("chmod 000 '\(closed)'").status == 0)
      for command in [["types"], ["summary"], ["audit"], ["digest"], ["export", "--output", scratch.path + "/x.json"]] {
        let outcome = try await host.start(command).outcome()
        #expect(outcome.status == 1, "\(command): \(outcome.status) \(outcome.errors)")
        #expect(outcome.errors.contains("No permission for \(host.home), "), "\(command): \(outcome.errors)")
      }
      #expect(try await RunningCommand(["chmod", mode, closed]).outcome().status == 0)
    }
    #expect(try await host.run("types").status == 0)
  }

  @Test("a directory that cannot be written, from the first run on")
  func directory() async throws {
    let empty = scratch.path + "/empty"
    #expect(try await home.sh("mkdir '\(empty)' && chmod 500 '\(empty)'").status == 0)
    let host = Host(home: empty, scratch: scratch, prefix: Unprivileged.prefix)
    for command in [["import", try await SampleExport.small.path], ["pull", "--host", "127.0.0.1:1"], ["serve"]] {
      let outcome = try await host.start(command).outcome()
      #expect(outcome.status == 1, "\(command): \(outcome.errors)")
      #expect(outcome.errors.split(separator: "\n").count == 1, "\(command): \(outcome.errors)")
      #expect(outcome.errors.contains(#/[Pp]ermission/#), "\(command): \(outcome.errors)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: empty).isEmpty)
  }

  @Test("permission is lost in the middle of an import")
  func middle() async throws {
    let export = try await SampleExport.large.path
    let reference = scratch.host("reference")
    try await reference.hold(.small)
    #expect(try await reference.run("import", export).status == 0)
    let before = try await home.committedSamples()
    let held = try await HeldCommand(["import", export], on: home) { try await home.committedSamples() > before }
    #expect(try await home.sh("chmod 000 '\(home.home)'").status == 0)
    try held.release()
    let outcome = try await held.command.outcome()
    // What is open stays open; an error must be one sentence all the same.
    #expect(outcome.status == 0 || outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
    #expect(try await RunningCommand(["chmod", "700", home.home]).outcome().status == 0)
    #expect(try await home.run("import", export).status == 0)
    try await home.expect(reference.everything(), after: "permission lost in the middle")
  }

  @Test("a file system that became read-only", .enabled(if: getuid() == 0, "mounting needs root"))
  func readOnly() async throws {
    let mounted = Host(home: scratch.path + "/mounted", scratch: scratch)
    let mount = try await mounted.sh(
      "cp -a '\(home.home)' '\(mounted.home)' && mount --bind '\(mounted.home)' '\(mounted.home)'")
    try #require(mount.status == 0, "\(mount.errors)")
    let contents = try await mounted.everything()
    #expect(try await mounted.sh("mount -o remount,bind,ro '\(mounted.home)'").status == 0)
    for command in try await commands() where command != ["types"] {
      let outcome = try await mounted.start(command).outcome()
      #expect(outcome.status == 1, "\(command): \(outcome.status) \(outcome.errors)")
      #expect(outcome.errors.split(separator: "\n").count == 1, "\(command): \(outcome.errors)")
      #expect(outcome.errors.contains(#/[Pp]ermission|[Rr]ead-only/#), "\(command): \(outcome.errors)")
    }
    #expect(try await mounted.sh("umount '\(mounted.home)'").status == 0)
    try await mounted.expect(contents, after: "a read-only file system")
    #expect(try await mounted.run("import", SampleExport.smallLater.path).status == 0)
  }
}

/// A command prefix with which permissions apply even to root.
enum Unprivileged {
  static let prefix =
    getuid() == 0
    ? ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-dac_override,-dac_read_search"]
    : []

  /// The reason why this isn't possible here, or nil.
  static let obstacle: String? = {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = prefix + ["true"]
    process.standardError = FileHandle.nullDevice
    do { try process.run() } catch { return "\(error)" }
    process.waitUntilExit()
    return process.terminationStatus == 0 ? nil : "setpriv cannot take rights away here"
  }()
}
