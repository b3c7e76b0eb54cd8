import ArgumentParser
import Foundation
import HealthOperations
import OperatingSystem
import Terminal

struct ServiceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "service",
    abstract: "Run hpeer all the time as a systemd user service. Does not need root.",
    discussion: """
      The service is `hpeer run`, for this user's record, restarted when it fails or hangs. What is set for `run` and \
      `serve` in config.toml counts for it. A user's services run while that user is logged in, and from the start of the \
      machine on where lingering is enabled for it: `install` and `status` say so.

      Examples:
        hpeer service install
        hpeer service status
        hpeer service logs --follow
        hpeer service uninstall
      """,
    subcommands: [
      ServiceInstallCommand.self, ServiceUninstallCommand.self, ServiceStatusCommand.self, ServiceLogsCommand.self,
    ])
}

extension CommonOptions {
  /// The user service for the home that was named, or for this user's own home.
  var service: UserService {
    let variable = ProcessInfo.processInfo.environment["HPEER_HOME"]
    return UserService(homeDirectory, namesHome: home != nil || variable?.isEmpty == false)
  }
}

/// Returns a note on whether the service runs while its user is not logged in.
private func lingerNote(_ lingers: Bool?, _ user: String) -> String {
  switch lingers {
  case true?: "It runs from the start of this machine on, whether \(user) is logged in or not."
  case false?:
    "It runs while \(user) is logged in. For it to run from the start of this machine on: loginctl enable-linger \(ShellWord.quoted(user))"
  case nil:
    "It is unknown whether the service runs while \(user) is not logged in. `loginctl enable-linger \(ShellWord.quoted(user))` makes it start at boot."
  }
}

struct ServiceInstallCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "install",
    abstract: "Install the service; start it now and at every login.",
    discussion: """
      If the package comes with an equivalent unit, that one is used. Run it again after a change, for example of the place \
      of the program or the record.

      Examples:
        hpeer service install
        hpeer service install --home /srv/health
      """)

  @OptionGroup var common: CommonOptions

  func run() async throws {
    let done = try await common.service.install()
    let what = done.wasThere ? "hpeer is a service of \(done.user) already" : "hpeer is a service of \(done.user) now"
    Console.say("\(what), by \(PlainText.escaped(done.unit)).")
    Console.say(lingerNote(done.lingers, done.user))
    Console.say(
      "Check it with `hpeer service status` and `hpeer service logs`; remove it with `hpeer service uninstall`.")
  }
}

struct ServiceUninstallCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "uninstall",
    abstract: "Stop and remove the service; the record stays.",
    discussion: """
      Examples:
        hpeer service uninstall
      """)

  @OptionGroup var common: CommonOptions

  func run() async throws {
    let directory = try await common.service.uninstall()
    Console.say("The service is removed. The record stays in \(PlainText.escaped(directory)).")
  }
}

struct ServiceStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show whether the service is running. `hpeer status` shows what it does.",
    discussion: """
      Exits with 0 if it is running, and 3 if it is not.

      Examples:
        hpeer service status
      """)

  @OptionGroup var common: CommonOptions

  func run() async throws {
    let state = try await common.service.state()
    let since = state.since.map { " since \($0)" } ?? ""
    var lines = [
      "\(state.active)\(since)\(state.process.map { " (process \($0))" } ?? ""), \(state.enabled), by \(state.unit)"
    ]
    if !state.status.isEmpty { lines.append(state.status) }
    if state.restarts > 0 { lines.append("Started again by itself: \(HumanFormat.count(state.restarts, "time")).") }
    if state.result != "success" { lines.append("It ended with \(state.result): `hpeer service logs`.") }
    lines.append(lingerNote(state.lingers, state.user))
    for line in lines { try Console.print(PlainText.escaped(line, limit: 500)) }
    if state.active != "active" { throw ExitCode(ExitStatus.unreachable.rawValue) }
  }
}

struct ServiceLogsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "logs",
    abstract: "Show the service's log from the journal.",
    discussion: """
      Is `journalctl --user --unit=hpeer.service`, which takes many more options.

      Examples:
        hpeer service logs
        hpeer service logs --lines 1000
        hpeer service logs --follow
      """)

  @OptionGroup var common: CommonOptions
  @Option(help: "How many of the last lines.")
  var lines = 100
  @Flag(help: "Keep showing new lines until Ctrl-C.")
  var follow = false

  func validate() throws {
    guard (0...1_000_000_000).contains(lines) else { throw ValidationError("--lines takes a number of lines.") }
  }

  func run() async throws {
    let error = try common.service.showLogs(lines: lines, follows: follow)
    throw CommandFailure(.other, "The journal cannot be shown (\(error)): try journalctl --user --unit=hpeer.service.")
  }
}
