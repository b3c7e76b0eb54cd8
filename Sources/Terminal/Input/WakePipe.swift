import Glibc

/// A pipe that makes a thread waiting in `poll(2)` return.
final class WakePipe: Sendable {
  /// The descriptor to poll for input.
  let readEnd: Int32
  let writeEnd: Int32

  /// Creates a pipe, or `nil` with `errno` set if the process has no file descriptors left.
  init?() {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return nil }
    (readEnd, writeEnd) = (ends[0], ends[1])
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
  }

  deinit {
    close(readEnd)
    close(writeEnd)
  }

  func wake() {
    var byte: UInt8 = 0
    // A full pipe wakes just as well, so a failure means nothing.
    _ = write(writeEnd, &byte, 1)
  }

  /// Returns the next byte written, or `nil` if there is none.
  func take() -> UInt8? {
    var byte: UInt8 = 0
    return read(readEnd, &byte, 1) == 1 ? byte : nil
  }
}
