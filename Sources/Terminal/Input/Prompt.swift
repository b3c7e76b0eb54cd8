import Glibc
import OperatingSystem
import Synchronization

/// A prompt at the controlling terminal, whatever standard input and output are connected to.
///
/// One question is asked at a time. While it waits, signals that would end the process end the question instead, with
/// ``PromptError/interrupted(signal:)``; the terminal is put back in order on every way out.
///
/// ```swift
/// let code = try await Prompt.readSecret(prompt: "Code: ", limit: 16)
/// guard try await Prompt.confirm("Replace the certificate?") else { return }
/// ```
public enum Prompt {
  /// Reads a line without showing it, for codes and passphrases. Backspace works. Earlier typed input is discarded.
  ///
  /// - Parameters:
  ///   - prompt: The question, with its colon and space.
  ///   - limit: The maximum number of bytes in an answer.
  /// - Returns: The line without its newline; may be empty.
  public static func readSecret(prompt: String, limit: Int = 4096) async throws(PromptError) -> String {
    try await ask(PromptQuestion(text: prompt, echoes: false, limit: limit))
  }

  /// Reads a line that is shown as it is typed.
  ///
  /// - Parameters: see ``readSecret(prompt:limit:)``.
  /// - Returns: the line without its newline; may be empty.
  public static func readLine(prompt: String, limit: Int = 4096) async throws(PromptError) -> String {
    try await ask(PromptQuestion(text: prompt, echoes: true, limit: limit))
  }

  /// Asks a question that only `y` or `yes` affirms; anything else, and the end of input, is a no.
  public static func confirm(_ question: String) async throws(PromptError) -> Bool {
    try await confirm(question, on: PromptTerminal.controlling)
  }

  static func confirm(
    _ question: String, on terminal: @escaping @Sendable () throws(PromptError) -> PromptTerminal
  ) async throws(PromptError) -> Bool {
    do {
      let answer = try await ask(PromptQuestion(text: question + " [y/N] ", echoes: true, limit: 4096), on: terminal)
      return ["y", "yes"].contains(answer.lowercased().filter { !$0.isWhitespace })
    } catch .endOfInput {
      return false
    }
  }

  // MARK: Threads

  /// A lock that keeps two questions from sharing the terminal and the signal handlers.
  private static let turn = Mutex(())

  static func ask(
    _ question: PromptQuestion,
    on terminal: @escaping @Sendable () throws(PromptError) -> PromptTerminal = PromptTerminal.controlling
  ) async throws(PromptError) -> String {
    guard let pipe = WakePipe() else { throw .failed(code: errno) }
    return try await onThread(onCancel: pipe.wake) { (_) throws(PromptError) in
      try turn.withLock { (_) throws(PromptError) in try question.ask(on: terminal(), until: pipe) }
    }
  }
}

/// An error that occurs when a question on the terminal gets no answer.
public enum PromptError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The process has no terminal: it runs from cron, systemd or in a pipe without one.
  case noTerminal
  /// A signal came (SIGINT for Ctrl-C). The terminal is restored, and the signal is consumed.
  case interrupted(signal: Int32)
  /// The task was cancelled.
  case cancelled
  /// The input ended: Ctrl-D was typed, or the terminal has gone.
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
