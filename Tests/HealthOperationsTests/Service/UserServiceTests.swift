import Foundation
import OperatingSystem
import TestSupport
import Testing

@testable import HealthOperations

/// The unit in the Debian package.
private enum PackagedUnit {
  static let path = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "packaging/systemd/user/hpeer.service")
    .path
}

@Suite("A service of this user", .timeLimit(.minutes(5)))
struct UserServiceTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private var units: String { HomeDirectory.resolved(directory.path) + "/.config/systemd/user" }
  private var unit: String { units + "/hpeer.service" }

  private func standIn(_ situation: UserSystemdStandIn.Situation = .init()) throws -> UserSystemdStandIn {
    try UserSystemdStandIn(units: units, packagedUnits: directory.path("packaged"), situation)
  }

  private func service(
    _ systemd: UserSystemdStandIn, home: String? = nil, program: String = "/opt/hpeer/bin/hpeer",
    more: [String: String] = [:]
  ) -> UserService {
    let environment = ["PATH": systemd.path, "HOME": directory.path].merging(more) { $1 }
    return UserService(
      Home(path: home, environment: environment), namesHome: home != nil, environment: environment, program: program,
      packagedUnit: directory.path("packaged/hpeer.service"))
  }

  private func text() throws -> String { try String(contentsOfFile: unit, encoding: .utf8) }

  @Test("installed, installed again, moved, taken off: the record stays")
  func cycle() async throws {
    let systemd = try standIn()
    let first = try await service(systemd).install()
    #expect(first.unit == unit && !first.isPackaged && !first.wasThere && first.lingers == false)
    let record = HomeDirectory.resolved(directory.path) + "/.local/share/hpeer"
    #expect(try text().contains("ExecStart=/opt/hpeer/bin/hpeer run\n"))
    #expect(try text().contains("ReadWritePaths=-\(record) %t\n"))
    #expect(FileStatus(record)?.isDirectory == true)
    #expect(systemd.isActive && systemd.isEnabled)
    #expect(
      systemd.takeChanges() == [
        "systemctl daemon-reload", "systemctl enable --now hpeer.service",
        "loginctl show-user \(NSUserName()) --property=Linger --value",
      ])

    let written = FileStatus(unit)
    let again = try await service(systemd).install()
    #expect(again.wasThere && FileStatus(unit) == written)
    #expect(!systemd.takeChanges().contains { $0.contains("restart") })

    // The program is somewhere else now, and what runs is the old one.
    let moved = try await service(systemd, program: "/home/ada/100% mine/hpeer").install()
    #expect(!moved.wasThere)
    #expect(try text().contains(#"ExecStart="/home/ada/100%% mine/hpeer" run"#))
    #expect(systemd.takeChanges().contains("systemctl restart hpeer.service"))

    let state = try await service(systemd).state()
    #expect(state.active == "active" && state.enabled == "enabled" && state.process == 4711 && state.restarts == 2)
    #expect(state.status == "Serving=all" && state.unit == unit && state.since == nil)

    try Data("x".utf8).write(to: URL(filePath: record + "/store.sqlite"))
    _ = systemd.takeChanges()
    #expect(try await service(systemd).uninstall() == record)
    #expect(systemd.takeChanges() == ["systemctl disable --now hpeer.service", "systemctl daemon-reload"])
    #expect(!systemd.isActive && !systemd.isEnabled && !PrivateFile.exists(unit))
    #expect(PrivateFile.exists(record + "/store.sqlite"))
    await #expect(throws: UserServiceError.notInstalled) { try await service(systemd).uninstall() }
    await #expect(throws: UserServiceError.notInstalled) { _ = try await service(systemd).state() }
  }

  @Test("another home is named to the program, and said when it is taken off")
  func namedHome() async throws {
    let systemd = try standIn()
    let home = HomeDirectory.resolved(directory.path) + #"/my "$HOME" 100%"#
    _ = try await service(systemd, home: home, more: ["XDG_DATA_HOME": "/data/x y"]).install()
    let quoted = HomeDirectory.resolved(directory.path) + #"/my \"$$HOME\" 100%%"#
    #expect(try text().contains("run --home \"\(quoted)\"\n"))
    #expect(try text().contains("Environment=\"XDG_DATA_HOME=/data/x y\"\n"))
    // Whichever home the one who takes it off would use.
    #expect(try await service(systemd).uninstall() == home)
  }

  @Test("the package's unit is used where it does the same")
  func packaged() async throws {
    let systemd = try standIn()
    try FileManager.default.createDirectory(
      atPath: directory.path("packaged"), withIntermediateDirectories: true)
    try Data("[Unit]\n".utf8).write(to: URL(filePath: directory.path("packaged/hpeer.service")))
    // One of a build of one's own is there from before, and would come first.
    _ = try await service(systemd).install()
    #expect(PrivateFile.exists(unit))
    let done = try await service(systemd, program: "/usr/bin/hpeer").install()
    #expect(done.isPackaged && done.unit == directory.path("packaged/hpeer.service"))
    #expect(!PrivateFile.exists(unit) && systemd.isActive && systemd.isEnabled)
    #expect(try await service(systemd, program: "/usr/bin/hpeer").install().wasThere)
    _ = try await service(systemd, program: "/usr/bin/hpeer").uninstall()
    #expect(!systemd.isActive && !systemd.isEnabled)
    #expect(PrivateFile.exists(directory.path("packaged/hpeer.service")))
    // A record elsewhere is not what the package's unit is for.
    _ = try await service(systemd, home: directory.path("elsewhere"), program: "/usr/bin/hpeer").install()
    #expect(PrivateFile.exists(unit))
  }

  @Test("no systemd, none for this user, one that fails to start: each is said, and nothing is left half done")
  func refusals() async throws {
    var situation = UserSystemdStandIn.Situation()
    situation.hasManager = false
    let none = try standIn(situation)
    let error = await #expect(throws: UserServiceError.self) { _ = try await service(none).install() }
    #expect(error == .noManager(user: NSUserName(), reason: "Failed to connect to bus: No medium found"))
    #expect(!PrivateFile.exists(unit))
    await #expect(throws: UserServiceError.noSystemd) {
      _ = try await service(none, more: ["PATH": directory.path]).install()
    }
    situation = .init()
    situation.failsToStart = true
    let failing = try standIn(situation)
    let failed = await #expect(throws: UserServiceError.self) { _ = try await service(failing).install() }
    withExtendedLifetime(failing) {}
    guard case .refused(let command, let reason)? = failed else {
      Issue.record("\(String(describing: failed))")
      return
    }
    #expect(
      command == "systemctl --user enable --now hpeer.service" && reason.hasPrefix("Job for hpeer.service failed"))
  }

  @Test("a unit of one's own stays as it is")
  func foreign() async throws {
    let systemd = try standIn()
    try FileManager.default.createDirectory(atPath: units, withIntermediateDirectories: true)
    try Data("[Service]\nExecStart=/bin/true\n".utf8).write(to: URL(filePath: unit))
    for attempt in [0, 1] {
      await #expect(throws: UserServiceError.foreignUnit(path: unit)) {
        if attempt == 0 { _ = try await service(systemd).install() } else { _ = try await service(systemd).uninstall() }
      }
    }
    #expect(try text() == "[Service]\nExecStart=/bin/true\n")
    #expect(systemd.takeChanges().isEmpty)
  }

  @Test("what runs for this record already is in the way")
  func running() async throws {
    let systemd = try standIn()
    let home = Home(path: nil, environment: ["HOME": directory.path])
    try PrivateFile.makeDirectory(home.directory)
    let lock = try ServeLock(home)
    defer { lock.release() }
    await #expect(throws: UserServiceError.running(process: getpid())) { _ = try await service(systemd).install() }
    #expect(!PrivateFile.exists(unit))
  }

  @Test("lingering: said where it can be told")
  func lingering() async throws {
    for lingers in [true, nil] as [Bool?] {
      var situation = UserSystemdStandIn.Situation()
      situation.lingers = lingers
      let systemd = try standIn(situation)
      #expect(try await service(systemd).install().lingers == lingers)
      withExtendedLifetime(systemd) {}
    }
  }

  @Test("a path that no unit can name")
  func control() {
    #expect(throws: UserServiceError.unusablePath("/home/a\nb")) {
      _ = try UserUnit(program: "/usr/bin/hpeer", directory: "/home/a\nb", namesDirectory: true)
    }
  }

  @Test(
    "the same directives as in the package's unit",
    .enabled(if: FileManager.default.fileExists(atPath: PackagedUnit.path)))
  func sameAsPackaged() throws {
    func directives(_ text: String) -> Set<String> {
      // The folder of a record that is not made yet, and where it is.
      let lines = text.split(separator: "\n").map(String.init)
      return Set(
        lines.filter { !$0.hasPrefix("#") && !$0.hasPrefix("ReadWritePaths=") && !$0.hasPrefix("ExecStartPre=") })
    }
    let unit = try UserUnit(
      program: "/usr/bin/hpeer", directory: "/home/ada/.local/share/hpeer", namesDirectory: false)
    let package = try String(contentsOfFile: PackagedUnit.path, encoding: .utf8)
    #expect(directives(unit.text) == directives(package))
  }

  @Test(
    "systemd takes the unit as it is meant",
    .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze")))
  func verified() async throws {
    let unit = try UserUnit(
      program: "/usr/bin/env", directory: directory.path + #"/a b "$x" 50%"#, namesDirectory: true,
      variables: ["XDG_DATA_HOME": "/x y"])
    let path = directory.path(UserUnit.name)
    try Data(unit.text.utf8).write(to: URL(filePath: path))
    let outcome = await CommandRunner.run("systemd-analyze", ["verify", "--man=no", path], limit: 60)
    guard case .finished(let status, _, let errors) = outcome else {
      Issue.record("systemd-analyze does not end")
      return
    }
    // It speaks of what it finds, and ends well all the same.
    #expect(status == 0 && !errors.contains("hpeer.service"), "\(errors)")
  }
}
