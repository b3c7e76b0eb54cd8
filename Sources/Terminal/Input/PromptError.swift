import OperatingSystem

/// Why a question on the terminal got no answer.
public enum PromptError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The process has no terminal: it runs from cron, systemd or in a pipe without one.
  case noTerminal
  /// This signal came (SIGINT for Ctrl-C); the terminal is as it was before, and the signal is used up.
  case interrupted(signal: Int32)
  /// The task was cancelled.
  case cancelled
  /// Ctrl-D, or the terminal has gone.
  case endOfInput
  /// More than `limit` bytes were given.
  case tooLong(limit: Int)
  /// The answer is not UTF-8.
  case notText
  /// A system call failed with this `errno` value.
  case failed(code: Int32)

  public var description: String {
    switch self {
    case .noTerminal:
      "There is no terminal to ask on; run the command in a terminal, or see --help for giving the answer another way."
    case .interrupted, .cancelled:
      "Interrupted while waiting for an answer; run the command again to continue."
    case .endOfInput:
      "The input ended before there was an answer; run the command again and answer the question."
    case .tooLong(let limit):
      "The answer is longer than \(limit) bytes; run the command again and check what you paste."
    case .notText:
      "The answer is not UTF-8 text; run the command again and check the terminal's encoding."
    case .failed(let code):
      "The terminal could not be read (\(SystemMessage.text(code))); try another terminal."
    }
  }
}
