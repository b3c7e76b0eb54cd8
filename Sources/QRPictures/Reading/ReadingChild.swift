import Foundation
import Glibc
import Synchronization

/// A process that reads one picture.
final class ReadingChild: Sendable {
  private let program: String
  private let pid = Mutex<pid_t?>(nil)

  init(_ program: String) { self.program = program }

  /// Kills the process if it runs.
  @Sendable func kill() {
    pid.withLock { if let pid = $0 { _ = Glibc.kill(pid, SIGKILL) } }
  }

  /// Runs the process and waits for it to exit. Blocks.
  func run(reading file: FileHandle) throws -> PictureAnswer {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw QRPictureError.failed }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let (reader, writer) = (ends[0], ends[1])
    defer { close(reader) }
    let isStarted = start(input: file.fileDescriptor, output: writer)
    close(writer)
    guard isStarted else { throw QRPictureError.failed }
    let said = Self.read(reader, upTo: PictureAnswer.longest)
    // The answer is complete, or too long.
    kill()
    let status = wait()
    guard let said, status == 0 || status == SIGKILL else { throw QRPictureError.failed }
    return try PictureAnswer(encoded: said)
  }

  private func start(input: Int32, output: Int32) -> Bool {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var (all, none) = (sigset_t(), sigset_t())
    sigfillset(&all)
    sigemptyset(&none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
    let words: [UnsafeMutablePointer<CChar>?] = [strdup("hpeer"), strdup(QRPicture.word), nil]
    defer { words.forEach { free($0) } }
    return pid.withLock { pid in
      var started: pid_t = 0
      // The environment is empty: it may hold secrets.
      guard posix_spawn(&started, program, &actions, &attributes, words, [nil]) == 0 else { return false }
      pid = started
      return true
    }
  }

  /// Returns the output; `nil` if it exceeds the limit.
  private static func read(_ descriptor: Int32, upTo limit: Int) -> Data? {
    var (said, buffer) = (Data(), [UInt8](repeating: 0, count: 16_384))
    while true {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return said }
      said.append(contentsOf: buffer[..<count])
      if said.count > limit { return nil }
    }
  }

  /// Waits for the process and returns its status as in `waitpid(2)`: 0 for success, or the signal that ended it.
  private func wait() -> Int32 {
    guard let running = pid.withLock(\.self) else { return -1 }
    // Not reaped before the lock is held, so that its process ID cannot be reused while it is being killed.
    var info = siginfo_t()
    while waitid(P_PID, id_t(running), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    return pid.withLock { pid in
      var status: Int32 = 0
      while waitpid(running, &status, 0) < 0, errno == EINTR {}
      pid = nil
      return status
    }
  }
}
