import Glibc
import OperatingSystem

/// An asynchronous sequence of the lines of a file descriptor, by default standard input.
///
/// ```swift
/// for await line in LineReader() where line == "n" { print("a new window") }
/// ```
///
/// It ends at the end of input (at once for `/dev/null` or a closed descriptor) and when the task is cancelled; it reads
/// ahead only what the kernel hands over at once. As a background job it waits instead of being stopped by the terminal.
/// Bytes that are not UTF-8 become U+FFFD; a line is cut after 65,536 bytes.
public struct LineReader: AsyncSequence, Sendable {
  public typealias Element = String
  public typealias Failure = Never

  private let descriptor: Int32

  /// Creates a sequence.
  ///
  /// - Parameter descriptor: An open descriptor, which the caller closes after the iteration.
  public init(descriptor: Int32 = STDIN_FILENO) {
    self.descriptor = descriptor
  }

  public func makeAsyncIterator() -> Iterator {
    Iterator(descriptor: descriptor)
  }

  public struct Iterator: AsyncIteratorProtocol, Sendable {
    private let source: BlockingLineReader
    private let pipe = WakePipe()
    private var buffer = LineBuffer(limit: 65_536)
    private var hasEnded = false

    fileprivate init(descriptor: Int32) {
      source = BlockingLineReader(descriptor: descriptor)
    }

    public mutating func next() async -> String? {
      if let line = buffer.takeLine() { return line }
      // Without a pipe (no descriptors left) it could not be cancelled, so it does not begin.
      guard !hasEnded, !Task.isCancelled, let pipe else { return nil }
      let (source, before) = (source, buffer)
      buffer = await onThread(onCancel: pipe.wake) { _ in source.nextLine(into: before, until: pipe) }
      let line = buffer.takeLine()
      hasEnded = line == nil
      return line
    }
  }
}

/// The blocking half of ``LineReader``.
private struct BlockingLineReader: Sendable {
  let descriptor: Int32

  /// The interval, in milliseconds, at which a background job checks whether it is in the foreground again.
  private static let backgroundInterval: Int32 = 1000

  /// Returns `buffer` with at least one more line, or with none at the end of input or when `pipe` was woken.
  func nextLine(into buffer: LineBuffer, until pipe: WakePipe) -> LineBuffer {
    var buffer = buffer
    var chunk = [UInt8](repeating: 0, count: 4096)
    while waitForInput(until: pipe) {
      let count = readWithoutStopping(&chunk)
      if count > 0 {
        let hadNewline = chunk[..<count].contains(UInt8(ascii: "\n"))
        buffer.append(chunk[..<count])
        if hadNewline { return buffer }
      } else if count == 0 {
        buffer.finish()
        return buffer
      } else if errno == EIO, tcgetpgrp(descriptor) != getpgrp() {
        // The terminal belongs to another job now.
        guard !isWoken(pipe, within: BlockingLineReader.backgroundInterval) else { return buffer }
      } else if errno != EINTR && errno != EAGAIN {
        buffer.finish()
        return buffer
      }
    }
    return buffer
  }

  /// Waits for input. Returns false if the pipe was woken or the descriptor is closed.
  private func waitForInput(until pipe: WakePipe) -> Bool {
    var entries = [
      pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: pipe.readEnd, events: Int16(POLLIN), revents: 0),
    ]
    while poll(&entries, nfds_t(entries.count), -1) < 0 {
      guard errno == EINTR else { return false }
    }
    return entries[1].revents == 0 && entries[0].revents & Int16(POLLNVAL) == 0
  }

  private func isWoken(_ pipe: WakePipe, within milliseconds: Int32) -> Bool {
    var entry = pollfd(fd: pipe.readEnd, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, milliseconds) > 0
  }

  /// Calls `read(2)` with SIGTTIN blocked, so that a background job gets EIO from its terminal instead of being
  /// stopped.
  private func readWithoutStopping(_ chunk: inout [UInt8]) -> Int {
    var stopping = sigset_t()
    var before = sigset_t()
    sigemptyset(&stopping)
    sigaddset(&stopping, SIGTTIN)
    pthread_sigmask(SIG_BLOCK, &stopping, &before)
    let count = read(descriptor, &chunk, chunk.count)
    let code = errno
    pthread_sigmask(SIG_SETMASK, &before, nil)
    errno = code
    return count
  }
}
