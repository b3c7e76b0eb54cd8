import Foundation
import Glibc

/// The result of running a system program.
public enum CommandOutcome: Hashable, Sendable {
  /// The program does not exist on this machine.
  case absent
  /// The program exited, successfully or not.
  ///
  /// - Parameters:
  ///   - status: its exit status; 0 for success.
  ///   - output: its standard output as UTF-8, with invalid bytes replaced.
  ///   - errors: its standard error, likewise.
  case finished(status: Int32, output: String, errors: String)
  /// The program did not exit in time, or could not be started.
  case failed

  /// The standard output if the program succeeded.
  public var output: String? {
    if case .finished(0, let output, _) = self { output } else { nil }
  }
}

/// A runner for system programs, in the C locale and with no input.
public enum CommandRunner {
  /// The directories that are searched. PATH is ignored: a program that runs as root must not come from a user's
  /// directory.
  private static let directories = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"]

  /// Returns the path of the first executable of this name in the system's directories; `nil` if there is none.
  public static func path(of name: String) -> String? {
    directories.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
  }

  /// Runs a program and waits for it to exit, on a thread of its own, even if the task is cancelled. Not for programs
  /// that write much: all output is held in memory, and a program that fills the pipe of standard error hangs until
  /// the limit.
  ///
  /// - Parameters:
  ///   - name: the name without a path; see ``path(of:)``.
  ///   - limit: the time in seconds after which the program is killed; the result is then ``CommandOutcome/failed``.
  public static func run(_ name: String, _ arguments: [String], limit: TimeInterval = 5) async -> CommandOutcome {
    guard let path = path(of: name) else { return .absent }
    var variables = ["PATH": directories.joined(separator: ":")]
    variables["DBUS_SYSTEM_BUS_ADDRESS"] = ProcessInfo.processInfo.environment["DBUS_SYSTEM_BUS_ADDRESS"]
    return await run(path: path, arguments, variables: variables, limit: limit)
  }

  /// Runs the program at a path.
  ///
  /// - Parameter variables: its complete environment, apart from the locale.
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
      let kill = DispatchWorkItem { if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) } }
      DispatchQueue.global().asyncAfter(deadline: .now() + limit, execute: kill)
      let texts = read([output, errors], of: process, until: deadline)
      // A program may close what it writes to before it ends.
      let status = exitStatus(of: process)
      kill.cancel()
      return status.map { .finished(status: $0, output: texts[0], errors: texts[1]) } ?? .failed
    }
  }

  /// Waits for a program, and returns its exit status, or `nil` if a signal ended it.
  ///
  /// `Process.waitUntilExit()` also waits for the processes that the program has left behind: they hold the socket by
  /// which Foundation notices the end.
  private static func exitStatus(of process: Process) -> Int32? {
    var info = siginfo_t()
    // Not reaped, because Foundation does that.
    while waitid(P_PID, id_t(process.processIdentifier), &info, WEXITED | WNOWAIT) != 0 {
      if errno == EINTR { continue }
      process.waitUntilExit()
      return process.terminationReason == .exit ? process.terminationStatus : nil
    }
    return Int(info.si_code) == Int(CLD_EXITED) ? info._sifields._sigchld.si_status : nil
  }

  /// Returns whether a program has exited, whatever processes it has left behind.
  private static func hasExited(_ process: Process) -> Bool {
    var info = siginfo_t()
    let code = waitid(P_PID, id_t(process.processIdentifier), &info, WEXITED | WNOWAIT | WNOHANG)
    return code == 0 ? info.si_signo == SIGCHLD : errno == ECHILD
  }

  /// Returns what a program writes to some pipes until it ends or the deadline. Processes that it has left behind may
  /// keep the pipes open: their end is not waited for.
  private static func read(
    _ pipes: [Pipe], of process: Process, until deadline: ContinuousClock.Instant
  ) -> [String] {
    var texts = pipes.map { _ in [UInt8]() }
    var entries = pipes.map {
      pollfd(fd: $0.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
    }
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while entries.contains(where: { $0.fd >= 0 }), ContinuousClock.now < deadline {
      let hasEnded = hasExited(process)
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
