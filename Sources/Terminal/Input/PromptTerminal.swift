import Glibc

/// An open terminal to ask a question on.
final class PromptTerminal: Sendable {
  let input: Int32
  let output: Int32
  private let isOwned: Bool

  /// - Parameter isOwned: whether to close the descriptors in the end.
  init(input: Int32, output: Int32, isOwned: Bool = false) {
    self.input = input
    self.output = output
    self.isOwned = isOwned
  }

  deinit {
    if isOwned { close(input) }
  }

  /// The controlling terminal; for a process without one, standard input if that is a terminal.
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

  /// Sets the attributes and discards what was typed but not read: it belongs to no question, and the rest of a pasted
  /// secret must not reach the shell.
  func set(_ attributes: termios) throws(PromptError) {
    var attributes = attributes
    while tcsetattr(input, TCSAFLUSH, &attributes) != 0 {
      guard errno == EINTR else { throw .failed(code: errno) }
    }
  }

  func write(_ text: String) {
    // A prompt nobody can see is followed by a read that fails, which says more than a failure here.
    try? OutputWriter(descriptor: output).write(text)
  }
}
