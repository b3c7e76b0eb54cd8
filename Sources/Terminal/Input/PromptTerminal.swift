import Glibc

/// An open terminal to ask a question on.
final class PromptTerminal: Sendable {
  let input: Int32
  let output: Int32
  private let isOwned: Bool

  /// Creates a terminal.
  ///
  /// - Parameter isOwned: Whether the input descriptor is closed in the end.
  init(input: Int32, output: Int32, isOwned: Bool = false) {
    self.input = input
    self.output = output
    self.isOwned = isOwned
  }

  deinit {
    if isOwned { close(input) }
  }

  /// Returns the controlling terminal. For a process without one, returns standard input if that is a terminal.
  static func controlling() throws(PromptError) -> PromptTerminal {
    let descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    if descriptor >= 0 { return PromptTerminal(input: descriptor, output: descriptor, isOwned: true) }
    guard isatty(STDIN_FILENO) == 1 else { throw .noTerminal }
    return PromptTerminal(input: STDIN_FILENO, output: STDERR_FILENO)
  }

  func attributes() throws(PromptError) -> termios {
    var attributes = termios()
    guard tcgetattr(input, &attributes) == 0 else {
      throw errno == ENOTTY ? .noTerminal : .failed(code: errno)
    }
    return attributes
  }

  /// Sets the attributes and discards typed input that was not read: it belongs to no question, and the rest of a
  /// pasted secret must not reach the shell.
  func set(_ attributes: termios) throws(PromptError) {
    var attributes = attributes
    while tcsetattr(input, TCSAFLUSH, &attributes) != 0 {
      guard errno == EINTR else { throw .failed(code: errno) }
    }
  }

  func write(_ text: String) {
    // If the prompt cannot be shown, the read that follows fails with a better error.
    try? OutputWriter(descriptor: output).write(text)
  }
}
