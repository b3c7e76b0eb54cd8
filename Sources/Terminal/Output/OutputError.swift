import Glibc
import OperatingSystem

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
