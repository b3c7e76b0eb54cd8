import Foundation
import OperatingSystem

/// The systemd that runs services for this user, by its own programs.
struct UserSystemd: Sendable {
  private let environment: [String: String]

  /// - Parameter environment: in whose `PATH` the programs are, as they would be for the person who types.
  init(environment: [String: String]) {
    var variables = environment
    // `su` and `sudo -u` leave it out, and without it no manager is found that runs all the same (pam_systemd(8)).
    let runtime = "/run/user/\(geteuid())"
    if variables["XDG_RUNTIME_DIR"]?.isEmpty ?? true, FileStatus(runtime)?.owner == geteuid() {
      variables["XDG_RUNTIME_DIR"] = runtime
    }
    self.environment = variables
  }

  /// Throws ``UserServiceError/noSystemd`` or ``UserServiceError/noManager(user:reason:)`` where there is none.
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

  /// Throws ``UserServiceError/refused(command:reason:)`` where it does not end well.
  func call(_ arguments: String..., limit: TimeInterval = 30) async throws(UserServiceError) {
    let command = (["systemctl", "--user"] + arguments).joined(separator: " ")
    switch try await systemctl(arguments, limit: limit) {
    case .finished(0, _, _): return
    case .finished(_, let output, let errors):
      throw .refused(command: command, reason: Self.line(errors.isEmpty ? output : errors))
    case .absent, .failed: throw .refused(command: command, reason: "it does not end")
    }
  }

  /// Properties of a unit, also of one that is not there.
  func properties(of unit: String, _ names: [String]) async throws(UserServiceError) -> [String: String] {
    let outcome = try await systemctl(["show", unit, "--property=\(names.joined(separator: ","))"], limit: 10)
    var properties: [String: String] = [:]
    for line in (outcome.output ?? "").split(separator: "\n") {
      let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if parts.count == 2 { properties[String(parts[0])] = String(parts[1]) }
    }
    return properties
  }

  /// Whether services of this user run while nobody is logged in as it; `nil` where that cannot be told.
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

  /// `journalctl` with this user's `PATH`, and all that it needs of the environment.
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

  /// The first line of what a program says, without its end.
  private static func line(_ text: String) -> String {
    let line = text.split(whereSeparator: \.isNewline).first.map(String.init) ?? "no reason given"
    return line.hasSuffix(".") ? String(line.dropLast()) : line
  }
}
