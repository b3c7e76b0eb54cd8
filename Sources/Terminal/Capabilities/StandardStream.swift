import Glibc

/// The three streams every process starts with, by file descriptor number.
public enum StandardStream: Int32, Sendable, CaseIterable {
  /// Standard input: text from a person or another program.
  case input = 0
  /// Standard output: data, and nothing else.
  case output = 1
  /// Standard error: prompts, progress, notes and errors.
  case error = 2

  /// Makes the streams safe to use. Call it once, before anything else opens a file:
  ///
  /// - A stream that the parent closed (`hpeer serve <&-`) becomes `/dev/null`, open for reading only: input is at its
  ///   end, and output fails with `EBADF` as it should. Otherwise the next file opened gets its number, and what is
  ///   printed lands in that file.
  /// - A write to a pipe without a reader fails with ``OutputError/readerGone`` instead of killing the process.
  public static func prepareAll() {
    for stream in allCases { openIfClosed(stream.rawValue) }
    signal(SIGPIPE, SIG_IGN)
  }

  static func openIfClosed(_ descriptor: Int32) {
    guard fcntl(descriptor, F_GETFD) < 0 else { return }
    let null = open("/dev/null", O_RDONLY)
    guard null >= 0, null != descriptor else { return }
    dup2(null, descriptor)
    close(null)
  }
}
