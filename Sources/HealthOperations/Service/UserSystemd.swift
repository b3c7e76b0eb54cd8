import Foundation
import OperatingSystem

/// The user's service manager, controlled with systemd's command line programs.
struct UserSystemd: Sendable {
  private let environment: [String: String]

  /// Creates an interface to the service manager.
  ///
  /// - Parameter environment: the environment for the programs; its `PATH` locates them.
  init(environment: [String: String]) {
    var variables = environment
    // `su` and `sudo -u` do not set the variable, and without it a running manager is not found (pam_systemd(8)).
    let runtime = "/run/user/\(geteuid())"
    if variables["XDG_RUNTIME_DIR"]?.isEmpty ?? true, FileStatus(runtime)?.owner == geteuid() {
      variables["XDG_RUNTIME_DIR"] = runtime
    }
    self.environment = variables
  }

  /// Throws ``UserServiceError/noSystemd`` or ``UserServiceError/noManager(user:reason:)`` if it is not running.
  func requireManager() async throws(UserServiceError) {
    let states = ["initializing", "starting", "running", "degraded", "maintenance", "stopping"]
    let outcome = try await systemctl(["is-system-running"], limit: 10)
    guard case .finished(_, let output, let errors) = outcome else {
      throw .noManager(user: userName, reason: "it does not answer")
    }
    let state = output.trimmingCharacters(in: .whitespacesAndNewlines)
    guard states.contains(state) else {
      throw .noManager(user: userName, reason: Self.line(errors.isEmpty ? output : errors))
    }
  }

  /// Runs `systemctl --user`. Throws ``UserServiceError/refused(command:reason:)`` if it fails.
  func call(_ arguments: String..., limit: TimeInterval = 30) async throws(UserServiceError) {
    let command = (["systemctl", "--user"] + arguments).joined(separator: " ")
    switch try await systemctl(arguments, limit: limit) {
    case .finished(0, _, _): return
    case .finished(_, let output, let errors):
      throw .refused(command: command, reason: Self.line(errors.isEmpty ? output : errors))
    case .absent, .failed: throw .refused(command: command, reason: "it does not end")
    }
  }

  /// Returns the properties of a unit, which need not exist.
  func properties(of unit: String, _ names: [String]) async throws(UserServiceError) -> [String: String] {
    let outcome = try await systemctl(["show", unit, "--property=\(names.joined(separator: ","))"], limit: 10)
    var properties: [String: String] = [:]
    for line in (outcome.output ?? "").split(separator: "\n") {
      let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { properties[String(parts[0])] = String(parts[1]) }
    }
    return properties
  }

  /// Returns whether the user's services run while the user is not logged in, or `nil` if that is unknown.
  func lingers() async -> Bool? {
    guard let path = ChildProgram.path(of: "loginctl", environment: environment) else { return nil }
    let outcome = await CommandRunner.run(
      path: path, ["show-user", userName, "--property=Linger", "--value"], variables: environment)
    switch outcome.output?.trimmingCharacters(in: .whitespacesAndNewlines) {
    case "yes": return true
    case "no": return false
    default: return nil
    }
  }

  /// Returns the path of `journalctl` and the environment that it needs.
  func journal() throws(UserServiceError) -> (path: String, environment: [String: String]) {
    guard let path = ChildProgram.path(of: "journalctl", environment: environment) else { throw .noSystemd }
    return (path, environment)
  }

  let userName = NSUserName()

  private func systemctl(_ arguments: [String], limit: TimeInterval) async throws(UserServiceError) -> CommandOutcome {
    guard let path = ChildProgram.path(of: "systemctl", environment: environment) else { throw .noSystemd }
    return await CommandRunner.run(
      path: path, ["--user", "--no-pager"] + arguments, variables: environment, limit: limit)
  }

  /// Returns the first line of a program's output, without a final period.
  private static func line(_ text: String) -> String {
    let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? "no reason given"
    return line.hasSuffix(".") ? String(line.dropLast()) : line
  }
}
