import Foundation
import Glibc

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
      let deadline = ContinuousClock.now + .seconds(limit)
      let texts = read([output, errors], of: process, until: deadline)
      if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
      process.waitUntilExit()
      guard process.terminationReason == .exit else { return .failed }
      return .finished(status: process.terminationStatus, output: texts[0], errors: texts[1])
    }
  }

  /// Returns what a program writes to some pipes until it ends or the deadline. Processes that it has left behind may keep the
  /// pipes open: their end is not waited for.
  private static func read(
    _ pipes: [Pipe], of process: Process, until deadline: ContinuousClock.Instant
  ) -> [String] {
    var texts = pipes.map { _ in [UInt8]() }
    var entries = pipes.map {
      pollfd(fd: $0.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
    }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while entries.contains(where: { $0.fd >= 0 }), ContinuousClock.now < deadline {
      let hasEnded = !process.isRunning
      guard poll(&entries, nfds_t(entries.count), 50) > 0 else {
        // What it wrote is all read.
        if hasEnded { break }
        continue
      }
      for index in entries.indices where entries[index].revents != 0 {
        let count = Glibc.read(entries[index].fd, &buffer, buffer.count)
        if count > 0 { texts[index] += buffer[..<count] }
        // poll(2) passes over negative descriptors.
        if count == 0 || count < 0 && errno != EINTR { entries[index].fd = -1 }
      }
    }
    return texts.map { String(decoding: $0, as: UTF8.self) }
  }
}
