import Glibc
import OperatingSystem
import Synchronization

/// Writes whole texts to a file descriptor, without a buffer of its own.
///
/// Texts of concurrent callers never mix. A call blocks while the reader is slow, so bulk output belongs on a thread of
/// its own; a line now and then does not. The process must ignore SIGPIPE, see ``StandardStream/prepareAll()``.
public final class OutputWriter: Sendable {
  /// For data, and nothing else.
  public static let standardOutput = OutputWriter(descriptor: STDOUT_FILENO)
  /// For prompts, progress, notes and errors.
  public static let standardError = OutputWriter(descriptor: STDERR_FILENO)

  private let descriptor: Int32
  private let turn = Mutex(())

  /// - Parameter descriptor: stays the caller's to close.
  public init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// The line and a line feed in one piece.
  ///
  /// - Throws: ``OutputError/readerGone`` where nobody reads any more: end quietly then.
  public func writeLine(_ line: String = "") throws(OutputError) {
    try write(line + "\n")
  }

  /// All lines at once, so that nothing comes between them.
  public func writeLines(_ lines: [String]) throws(OutputError) {
    try write(lines.map { $0 + "\n" }.joined())
  }

  /// UTF-8, without a line feed.
  public func write(_ text: String) throws(OutputError) {
    try write(Array(text.utf8))
  }

  /// All of the bytes, however many calls that takes; or some of them, where it throws.
  public func write(_ bytes: [UInt8]) throws(OutputError) {
    let code = turn.withLock { _ in bytes.withUnsafeBytes { writeAll($0, to: descriptor) } }
    switch code {
    case 0: return
    case EPIPE: throw .readerGone
    default: throw .failed(code: code)
    }
  }

  /// Throws where nothing can ever be written, before there is anything to write.
  public func requireOpen() throws(OutputError) {
    let flags = fcntl(descriptor, F_GETFL)
    guard flags >= 0, flags & O_ACCMODE != O_RDONLY else { throw .failed(code: EBADF) }
  }

  /// Whether a short text would be taken without blocking: false for a terminal stopped with Ctrl-S.
  func acceptsOutput() -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLOUT) != 0
  }
}

/// Why text could not be written to a stream.
public enum OutputError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Whoever read the other end has gone, as `head` does: a reason to stop quietly, not a failure worth a message.
  case readerGone
  /// `write(2)` failed with this `errno` value, for example because the disk is full.
  case failed(code: Int32)

  public var description: String {
    switch self {
    case .readerGone:
      "The program reading this output has stopped; run the command again to see the rest."
    case .failed(EBADF):
      "The output could not be written, because standard output is closed; send it somewhere and run the command again."
    case .failed(let code):
      "The output could not be written (\(SystemMessage.text(code))); check where it goes and run the command again."
    }
  }
}
