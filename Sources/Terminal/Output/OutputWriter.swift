import Glibc
import OperatingSystem
import Synchronization

/// An unbuffered writer of whole texts to a file descriptor.
///
/// Texts of concurrent callers never mix. A call blocks while the reader is slow, so bulk output belongs on a thread of
/// its own; a line now and then does not. The process must ignore SIGPIPE, see ``StandardStream/prepareAll()``.
public final class OutputWriter: Sendable {
  /// The writer for data, and nothing else.
  public static let standardOutput = OutputWriter(descriptor: STDOUT_FILENO)
  /// The writer for prompts, progress, notes and errors.
  public static let standardError = OutputWriter(descriptor: STDERR_FILENO)

  private let descriptor: Int32
  private let turn = Mutex(())

  /// Creates a writer.
  ///
  /// - Parameter descriptor: An open descriptor, which the caller closes.
  public init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// Writes the line and a line feed in one piece.
  ///
  /// - Throws: ``OutputError/readerGone`` if the reader has gone: end quietly then.
  public func writeLine(_ line: String = "") throws(OutputError) {
    try write(line + "\n")
  }

  /// Writes all lines at once, so that nothing comes between them.
  public func writeLines(_ lines: [String]) throws(OutputError) {
    try write(lines.map { $0 + "\n" }.joined())
  }

  /// Writes text in UTF-8, without a line feed.
  public func write(_ text: String) throws(OutputError) {
    try write(Array(text.utf8))
  }

  /// Writes all of the bytes, in as many calls as it takes. If it throws, some of them may have been written.
  public func write(_ bytes: [UInt8]) throws(OutputError) {
    let code = turn.withLock { _ in bytes.withUnsafeBytes { writeAll($0, to: descriptor) } }
    switch code {
    case 0: return
    case EPIPE: throw .readerGone
    default: throw .failed(code: code)
    }
  }

  /// Throws if the descriptor is closed or open for reading only. Call it before there is anything to write.
  public func requireOpen() throws(OutputError) {
    let flags = fcntl(descriptor, F_GETFL)
    guard flags >= 0, flags & O_ACCMODE != O_RDONLY else { throw .failed(code: EBADF) }
  }

  /// Returns whether a short text would be taken without blocking: false for a terminal stopped with Ctrl-S.
  func acceptsOutput() -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    return poll(&entry, 1, 0) == 1 && entry.revents & Int16(POLLOUT) != 0
  }
}

/// An error that occurs when text cannot be written to a stream.
public enum OutputError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The reader has gone, as `head` does: a reason to stop quietly, not a failure worth a message.
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
