import Foundation

/// How a program of the system ended.
public enum CommandOutcome: Hashable, Sendable {
  /// There is no such program here.
  case absent
  /// It ended by itself, be it well or not.
  ///
  /// - Parameters:
  ///   - status: its exit status; 0 for success.
  ///   - output: what it wrote to standard output, as UTF-8, faults replaced.
  ///   - errors: likewise, to standard error.
  case finished(status: Int32, output: String, errors: String)
  /// It did not end in time, or could not be started.
  case failed

  /// What it wrote, if it succeeded.
  public var output: String? {
    if case .finished(0, let output, _) = self { output } else { nil }
  }
}

/// Runs a program of the system in the C locale, with no input.
public enum CommandRunner {
  /// Not PATH: what runs as root must not be what somebody put there.
  private static let directories = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]

  /// The first of this name that may be executed in the directories of the system, whatever `PATH` says; `nil` where
  /// there is none.
  public static func path(of name: String) -> String? {
    directories.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
  }

  /// Runs the program and waits for its end, on a thread of its own; a cancelled task waits as well. Not for programs
  /// that write much: all of it is held in memory, and who fills the pipe of standard error hangs until the limit.
  ///
  /// - Parameters:
  ///   - name: without a path; see ``path(of:)``.
  ///   - limit: seconds after which it is killed, which is ``CommandOutcome/failed``.
  public static func run(_ name: String, _ arguments: [String], limit: TimeInterval = 5) async -> CommandOutcome {
    guard let path = path(of: name) else { return .absent }
    var variables = ["PATH": directories.joined(separator: ":")]
    variables["DBUS_SYSTEM_BUS_ADDRESS"] = ProcessInfo.processInfo.environment["DBUS_SYSTEM_BUS_ADDRESS"]
    return await run(path: path, arguments, variables: variables, limit: limit)
  }

  /// The same for a program of a path.
  ///
  /// - Parameter variables: all that its environment has, beside the locale.
  public static func run(
    path: String, _ arguments: [String], variables: [String: String], limit: TimeInterval = 5
  ) async -> CommandOutcome {
    await onThread { _ in
      let process = Process()
      process.executableURL = URL(fileURLWithPath: path)
      process.arguments = arguments
      process.environment = variables.merging(["LC_ALL": "C"]) { $1 }
      let (output, errors) = (Pipe(), Pipe())
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = output
      process.standardError = errors
      do { try process.run() } catch { return .failed }
      let identifier = process.processIdentifier
      let kill = DispatchWorkItem { Glibc.kill(identifier, SIGKILL) }
      DispatchQueue.global().asyncAfter(deadline: .now() + limit, execute: kill)
      // Small enough for the pipe's buffer, so it can wait until the output has been read.
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      let said = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      kill.cancel()
      guard process.terminationReason == .exit else { return .failed }
      return .finished(status: process.terminationStatus, output: text, errors: said)
    }
  }
}
