import Foundation
import OperatingSystem

/// A program that runs until it is stopped, such as a server or a pull with `--watch`.
final class Service: Sendable {
  let pid: pid_t
  private let command: Command
  private let end: Task<Void, any Error>

  init(_ program: Program, _ arguments: [String], home: String?, in workspace: Workspace) throws {
    let command = Command(program, arguments, home: home, in: workspace)
    let pid = try command.start()
    self.command = command
    self.pid = pid
    end = Task { await onThread { _ in _ = Children.shared.reap(pid) } }
  }

  /// Waits until standard error matches, and returns the match.
  func errors<Output>(matching regex: some RegexComponent<Output>) async throws -> Output {
    for _ in 0..<6000 {
      if let match = command.errors.firstMatch(of: regex) { return match.output }
      guard kill(pid, 0) == 0 else { break }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw BenchFailure("A program did not get ready: \(command.errors)")
  }

  /// - Parameter signal: The signal to send. SIGKILL simulates a power failure.
  func stop(_ signal: Int32 = SIGTERM) async throws {
    Children.shared.send(signal, to: pid)
    try await end.value
    command.removeFiles()
  }

  var running: RunningProcess { RunningProcess(pid: pid) }
}

/// An `hpeer serve` process on loopback.
struct Server: Sendable {
  let service: Service
  let port: Int

  init(_ bench: Bench, home: String, port: Int = 0) async throws {
    service = try Service(
      bench.program, ["serve", "--bind", "127.0.0.1", "--port", String(port), "--name", "bench", "--no-advertise"],
      home: home, in: bench.workspace)
    let (_, digits) = try await service.errors(matching: #/on port (\d+)/#)
    self.port = Int(digits) ?? 0
  }
}
