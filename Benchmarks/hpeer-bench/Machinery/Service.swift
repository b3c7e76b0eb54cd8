import Foundation

/// An hpeer that runs until it is stopped: a server, or a pull that follows.
final class Service: Sendable {
  let pid: pid_t
  private let command: Command
  private let end: Task<Void, any Error>

  init(_ program: Program, _ arguments: [String], home: String, in workspace: Workspace) throws {
    let command = Command(program, arguments, home: home, in: workspace)
    let pid = try command.start()
    self.command = command
    self.pid = pid
    end = Task { try await Blocking.run { _ = Children.shared.reap(pid) } }
  }

  /// What a regular expression finds in standard error, once it does.
  func errors<Output>(matching regex: some RegexComponent<Output>) async throws -> Output {
    for _ in 0..<6000 {
      if let match = command.errors.firstMatch(of: regex) { return match.output }
      guard kill(pid, 0) == 0 else { break }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw BenchFailure("hpeer did not get ready: \(command.errors)")
  }

  func stop() async throws {
    Children.shared.send(SIGTERM, to: pid)
    try await end.value
    command.removeFiles()
  }

  /// Highest resident memory so far, in bytes.
  var peak: Int { (status("VmHWM") ?? 0) * 1024 }

  /// User and system time so far.
  var cpuSeconds: Double {
    let text = (try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)) ?? ""
    // The name, which may hold anything, ends at the last parenthesis; field 14 and 15 of proc_pid_stat(5).
    let fields = text[(text.lastIndex(of: ")") ?? text.startIndex)...].split(separator: " ")
    guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else { return 0 }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// How often one of its threads has gone to sleep.
  var sleeps: Int {
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
    return threads.reduce(0) { $0 + (status("voluntary_ctxt_switches", of: "task/\($1)/") ?? 0) }
  }

  private func status(_ name: String, of thread: String = "") -> Int? {
    let text = (try? String(contentsOfFile: "/proc/\(pid)/\(thread)status", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").first { $0.hasPrefix(name + ":") }
      .flatMap { $0.split { !$0.isNumber }.first { Int($0) != nil } }.flatMap { Int($0) }
  }
}

/// `hpeer serve` on loopback.
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
