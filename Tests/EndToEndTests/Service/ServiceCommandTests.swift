import Foundation
import TestSupport
import Testing

/// Tests of `hpeer service` with scripts in place of a user's systemd.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ServiceCommandTests {
  @Test("install, status, logs and uninstall, for the binary that is run and the home that is named")
  func cycle() async throws {
    let scratch = try Scratch()
    let host = scratch.host("home")
    let user = scratch.path + "/user"
    let unit = user + "/.config/systemd/user/hpeer.service"
    let systemd = try UserSystemdStandIn(units: user + "/.config/systemd/user")
    try FileManager.default.createDirectory(
      atPath: user, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let environment = ["PATH": systemd.path, "HOME": user, "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": ""]

    let installed = try await host.run("service", "install", environment: environment)
    #expect(installed.status == 0, "\(installed.errors)")
    #expect(installed.errors.contains("loginctl enable-linger"), "\(installed.errors)")
    let text = try String(contentsOfFile: unit, encoding: .utf8)
    let command = try #require(text.firstMatch(of: #/ExecStart=(.*) run --home (.*)/#))
    #expect(URL(filePath: String(command.1)).lastPathComponent == "hpeer")
    #expect(FileManager.default.isExecutableFile(atPath: String(command.1)))
    #expect(String(command.2).hasSuffix("/home"))

    let status = try await host.run("service", "status", environment: environment)
    #expect(status.status == 0 && status.output.hasPrefix("active (process 4711), enabled"), "\(status.output)")
    let logs = try await host.run("service", "logs", "--lines", "7", "--follow", environment: environment)
    #expect(logs.output == "journalctl --user --unit=hpeer.service --lines=7 --follow\n")

    let uninstalled = try await host.run("service", "uninstall", environment: environment)
    #expect(uninstalled.status == 0 && uninstalled.errors.contains(host.home.suffix(8)), "\(uninstalled.errors)")
    #expect(!FileManager.default.fileExists(atPath: unit))
    #expect(FileManager.default.fileExists(atPath: host.home))
    #expect(try await host.run("service", "status", environment: environment).status == 3)
  }

  @Test("where no systemd runs for the user: one sentence, and nothing is written")
  func absent() async throws {
    let scratch = try Scratch()
    let host = scratch.host("home")
    var situation = UserSystemdStandIn.Situation()
    situation.hasManager = false
    let systemd = try UserSystemdStandIn(units: "/nonexistent", situation)
    let outcome = try await host.run(
      "service", "install", environment: ["PATH": systemd.path, "HOME": scratch.path])
    #expect(outcome.status == 3)
    #expect(outcome.errors.contains("enable-linger") && outcome.errors.split(separator: "\n").count == 1)
    #expect(!FileManager.default.fileExists(atPath: scratch.path + "/.config"))
  }
}
