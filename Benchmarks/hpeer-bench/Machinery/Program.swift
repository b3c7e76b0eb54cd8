import Foundation
import OperatingSystem

/// An executable to run and measure.
struct Program: Sendable {
  let path: String

  init(path: String) throws {
    guard access(path, X_OK) == 0 else {
      throw BenchFailure("\(path) cannot be run: build it with scripts/build.")
    }
    self.path = path
  }

  private var name: String { URL(fileURLWithPath: path).lastPathComponent }

  /// The result of a run, from start to exit.
  struct Outcome: Sendable {
    var status: Int32
    var seconds: Double
    /// The peak resident memory in bytes, or 0 if it wasn't measured.
    var peak: Int
    var cpuSeconds: Double
    var output: String
    var errors: String

    /// Parses standard output, which must be a JSON object.
    func json() throws -> [String: Any] {
      guard let object = try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any] else {
        throw BenchFailure("hpeer printed no JSON object: \(output)")
      }
      return object
    }
  }

  /// Runs a command to its end.
  ///
  /// - Parameters:
  ///   - home: hpeer's home, or `nil` for another program.
  ///   - watchesMemory: Whether the memory is sampled a hundred times a second, for ``Outcome/peak``.
  /// - Throws: ``BenchFailure`` if the exit status isn't 0.
  func run(
    _ arguments: [String], home: String?, input: String? = nil, watchesMemory: Bool = false, in workspace: Workspace
  ) async throws -> Outcome {
    let command = Command(self, arguments, home: home, input: input, in: workspace)
    let outcome = try await onThread { _ in
      let started = ContinuousClock.now
      let pid = try command.start()
      var peak = 0
      while watchesMemory, !Children.shared.hasEnded(pid) {
        peak = max(peak, RunningProcess(pid: pid).peak)
        usleep(10_000)
      }
      let (status, usage) = Children.shared.reap(pid)
      let seconds = started.duration(to: .now).seconds
      defer { command.removeFiles() }
      return Outcome(
        status: status, seconds: seconds, peak: peak, cpuSeconds: usage.cpuSeconds,
        output: command.output, errors: command.errors)
    }
    guard outcome.status == 0 else {
      throw BenchFailure("\(name) \(arguments.joined(separator: " ")) failed: \(outcome.errors)")
    }
    return outcome
  }

  /// Returns whether a command has an option.
  func has(_ option: String, of command: String, in workspace: Workspace) async throws -> Bool {
    let help = try await run([command, "--help"], home: workspace.path, in: workspace)
    return help.output.contains("\(option) ") || help.output.contains("\(option)\n")
  }
}

/// A command line with files for its input and output, so that it never waits for a reader.
struct Command: Sendable {
  private let program: String
  private let arguments: [String]
  private let files: String

  init(_ program: Program, _ arguments: [String], home: String?, input: String? = nil, in workspace: Workspace) {
    self.program = program.path
    let takesHome = arguments.last != "--help" && arguments.last != "--version"
    self.arguments = [program.path] + arguments + (takesHome ? home.map { ["--home", $0] } ?? [] : [])
    files = workspace.fresh("run")
    if let input { _ = FileManager.default.createFile(atPath: files + ".in", contents: Data(input.utf8)) }
  }

  var output: String { (try? String(contentsOfFile: files + ".out", encoding: .utf8)) ?? "" }
  var errors: String { (try? String(contentsOfFile: files + ".err", encoding: .utf8)) ?? "" }

  func removeFiles() {
    for end in ["in", "out", "err"] { unlink("\(files).\(end)") }
  }

  /// Starts the process and adds it to ``Children``.
  func start() throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    let input = access(files + ".in", R_OK) == 0 ? files + ".in" : "/dev/null"
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, input, O_RDONLY, 0)
    for (descriptor, end) in [(STDOUT_FILENO, "out"), (STDERR_FILENO, "err")] {
      posix_spawn_file_actions_addopen(&actions, descriptor, "\(files).\(end)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    }
    // Signals that this process ignores would stay ignored in the child.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var signals = sigset_t()
    sigemptyset(&signals)
    for number in [SIGINT, SIGTERM, SIGHUP, SIGPIPE] { sigaddset(&signals, number) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))

    var words = arguments.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var pid: pid_t = 0
    let code = posix_spawn(&pid, program, &actions, &attributes, &words, environ)
    guard code == 0 else { throw BenchFailure("\(program) could not be started: \(String(cString: strerror(code))).") }
    Children.shared.add(pid)
    return pid
  }
}

extension rusage {
  var cpuSeconds: Double {
    Double(ru_utime.tv_sec + ru_stime.tv_sec) + Double(ru_utime.tv_usec + ru_stime.tv_usec) / 1e6
  }
}
