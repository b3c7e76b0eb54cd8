import Foundation
import Glibc
import Synchronization

/// An error that kept a program from running.
public enum ChildProgramError: Error, Hashable, Sendable {
  /// The program does not exist or is not executable.
  case cannotRun(path: String, reason: String)
  /// The program could not be started because this machine lacks a resource.
  case notStarted(path: String, reason: String)
  /// The program's input could not be written.
  case noInput(reason: String)
}

extension ChildProgramError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .cannotRun(let path, let reason): "\(path) cannot be run (\(reason))"
    case .notStarted(let path, let reason): "\(path) could not be started (\(reason))"
    case .noInput(let reason): "the program's input could not be written (\(reason))"
    }
  }
}

/// A program chosen by the user, run once for each input. If the task is cancelled, the program and all processes
/// that it started are killed: those with its `HPEER_RUN` in their environment, even if they were detached.
///
/// ```swift
/// guard let path = ChildProgram.path(of: "wc") else { return }
/// let program = ChildProgram(path, arguments: ["-l"], folder: "/var/tmp")
/// let end = try await program.run(input: Array("one line\n".utf8))
/// print(end.status == .exit(0), end.said)
/// ```
public struct ChildProgram: Sendable {
  /// The result of a run.
  public struct End: Hashable, Sendable {
    /// The exit status or signal, as reported by `waitpid(2)`.
    public enum Status: Hashable, Sendable {
      /// The program exited with this status.
      case exit(Int32)
      /// The program was ended by this signal.
      case signal(Int32)
    }

    /// The exit status or signal.
    public var status: Status
    /// The end of the program's standard error, on one line.
    public var said: String
  }

  /// The maximum length of the kept standard error, in bytes.
  public static let longestError = 2_048

  private let path: String
  private let arguments: [String]
  private let variables: [String: String]
  private let folder: String

  /// Creates a program.
  ///
  /// - Parameters:
  ///   - path: see ``path(of:environment:)``.
  ///   - variables: environment variables, in addition to the harmless ones of this process.
  ///   - folder: the folder in which the input is kept during a run, in an unnamed file.
  public init(_ path: String, arguments: [String], variables: [String: String] = [:], folder: String) {
    (self.path, self.arguments, self.variables, self.folder) = (path, arguments, variables, folder)
  }

  /// Returns the path of a program, given by a path or a name in `PATH`; `nil` if there is no executable program.
  public static func path(of name: String, environment: [String: String] = ProcessInfo.processInfo.environment)
    -> String?
  {
    func isProgram(_ path: String) -> Bool {
      var status = stat()
      return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && access(path, X_OK) == 0
    }
    if name.contains("/") || name.hasPrefix("~") {
      let path = UserPath.absolute(name)
      return isProgram(path) ? path : nil
    }
    let folders = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
    return folders.lazy.map { "\($0)/\(name)" }.first { $0.hasPrefix("/") && isProgram($0) }
  }

  /// Runs the program. Throws ``ChildProgramError`` if it cannot be started, and `CancellationError`.
  ///
  /// - Parameters:
  ///   - more: environment variables for this run only.
  ///   - record: the name of a file in the folder that records the run while it lasts, for programs of which only one
  ///     run at a time is allowed. If this process is killed during the run, the next run with that file first kills
  ///     the orphaned processes. `nil` for none.
  public func run(
    input: [UInt8], variables more: [String: String] = [:], record: String? = nil
  ) async throws -> End {
    let child = Child()
    var variables = variables.merging(more) { $1 }
    variables[RunRecord.variable] = child.name
    // Searching for the processes that it has started takes a while.
    let kill: @Sendable () -> Void = { Thread.detachNewThread { child.kill() } }
    let end = try await onThread(onCancel: kill) { [self, variables] _ in
      try runBlocking(input, variables, child, record.map { RunRecord(path: "\(folder)/\($0)") })
    }
    try Task.checkCancellation()
    return end
  }

  /// The environment variables that the program inherits: none that may hold a secret.
  private static let inherited = [
    "HOME", "LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_TIME", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER",
    "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME",
  ]

  private func runBlocking(
    _ input: [UInt8], _ variables: [String: String], _ child: Child, _ record: RunRecord?
  ) throws -> End {
    // A file, not a pipe: the program may read as slowly as it likes, or not at all.
    let file = try inputFile(input)
    defer { close(file) }
    record?.killOrphans()
    do { try record?.begin(child.name) } catch { throw ChildProgramError.noInput(reason: "\(error)") }
    defer { record?.end() }
    var pipe: [Int32] = [-1, -1]
    guard Glibc.pipe(&pipe) == 0 else { throw failure(errno) }
    for descriptor in pipe { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    let (reader, writer) = (pipe[0], pipe[1])
    defer { close(reader) }
    let code = spawn(variables, input: file, errors: writer, child)
    close(writer)
    guard code == 0 else {
      if [ENOENT, EACCES, ENOEXEC, ENOTDIR].contains(code) {
        throw ChildProgramError.cannotRun(path: path, reason: SystemMessage.text(code))
      }
      throw failure(code)
    }
    return child.wait(reading: reader)
  }

  private func failure(_ code: Int32) -> ChildProgramError {
    .notStarted(path: path, reason: SystemMessage.text(code))
  }

  private func inputFile(_ input: [UInt8]) throws -> Int32 {
    do {
      try PrivateFile.makeDirectory(folder)
      let path = "\(folder)/input-\(UUID().uuidString.lowercased())"
      let descriptor = try PrivateFile.open(path, O_RDWR | O_CREAT | O_EXCL)
      unlink(path)
      let code = input.withUnsafeBytes { writeAll($0, to: descriptor) }
      guard code == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
        close(descriptor)
        throw SystemError("write", path, code: code == 0 ? errno : code)
      }
      return descriptor
    } catch let error as SystemError {
      throw ChildProgramError.noInput(reason: "\(error)")
    }
  }

  private func spawn(
    _ variables: [String: String], input: Int32, errors: Int32, _ child: Child
  ) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (all, none) = (sigset_t(), sigset_t())
    sigfillset(&all)
    sigemptyset(&none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    let own = ProcessInfo.processInfo.environment
    let environment = Dictionary(
      uniqueKeysWithValues: Self.inherited.compactMap { name in own[name].map { (name, $0) } }
    )
    .merging(variables) { $1 }
    let words = ([path] + arguments).map { strdup($0) }
    let settings = environment.filter { !$0.key.contains("=") }.map { strdup("\($0.key)=\($0.value)") }
    defer { (words + settings).forEach { free($0) } }
    return child.start { pid in posix_spawn(&pid, path, &actions, &attributes, words + [nil], settings + [nil]) }
  }

  /// A run, which may be killed from another thread.
  private final class Child: Sendable {
    private enum State {
      case new
      case running(pid_t)
      case over
      /// Killed before it started.
      case cancelled
    }

    /// The unique name of the run.
    let name = UUID().uuidString
    private let state = Mutex(State.new)

    func start(_ spawn: (inout pid_t) -> Int32) -> Int32 {
      state.withLock { state in
        guard case .new = state else { return ECANCELED }
        var pid: pid_t = 0
        let code = spawn(&pid)
        state = code == 0 ? .running(pid) : .over
        return code
      }
    }

    /// Kills the program and all processes that it has started.
    func kill() {
      state.withLock { state in
        switch state {
        case .running(let pid): ProcessTree(root: pid, mark: RunRecord.mark(of: name)).kill()
        case .new: state = .cancelled
        case .over, .cancelled: break
        }
      }
    }

    /// Reads standard error until the program exits. Does not wait for output of processes that it leaves behind.
    func wait(reading descriptor: Int32) -> End {
      var said: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 4_096)
      var isOpen = true
      while true {
        if isOpen {
          var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
          if poll(&entry, 1, 50) > 0 {
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 {
              said += buffer[..<count]
              if said.count > 2 * ChildProgram.longestError { said.removeFirst(said.count - ChildProgram.longestError) }
            } else {
              isOpen = count < 0 && errno == EINTR
            }
          }
        }
        guard let status = reap(blocking: !isOpen) else { continue }
        // What it said last is in the pipe; what goes on writing into it is another.
        for _ in 0..<Self.mostReadsAfterEnd {
          var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
          guard isOpen, poll(&entry, 1, 0) > 0 else { break }
          let count = read(descriptor, &buffer, buffer.count)
          guard count > 0 else { break }
          said += buffer[..<count]
        }
        return End(status: status, said: Self.line(said))
      }
    }

    /// A pipe holds as much as sixteen reads take.
    private static let mostReadsAfterEnd = 16

    /// Returns the exit status or signal, or `nil` while the program runs.
    private func reap(blocking: Bool) -> End.Status? {
      guard case .running(let pid) = state.withLock(\.self) else { return .signal(SIGKILL) }
      // Not reaped before the lock is held, so that its process ID cannot be reused while it is being killed.
      var info = siginfo_t()
      let flags = WEXITED | WNOWAIT | (blocking ? 0 : WNOHANG)
      guard waitid(P_PID, id_t(pid), &info, flags) == 0 else { return errno == EINTR ? nil : .signal(SIGKILL) }
      // The structure is unchanged if the program has not exited.
      guard info.si_signo == SIGCHLD else { return nil }
      return state.withLock { state in
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        state = .over
        let signal = status & 0x7F
        return signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
      }
    }

    private static func line(_ bytes: [UInt8]) -> String {
      String(decoding: bytes.suffix(ChildProgram.longestError), as: UTF8.self)
        .split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        .joined(separator: "; ")
    }
  }
}
