import Glibc

/// A question and the wait for its answer, in blocking calls.
struct PromptQuestion: Sendable {
  let text: String
  let echoes: Bool
  /// The maximum number of bytes in an answer.
  let limit: Int

  /// Asks and returns the line that was typed, without its newline. Waking `pipe` ends the wait.
  func ask(on terminal: PromptTerminal, until pipe: WakePipe) throws(PromptError) -> String {
    let before = try terminal.attributes()
    let signals = PromptSignals.catchAll()
    defer { signals.release() }
    // Should the terminal be gone, there is nothing left to restore.
    defer { try? terminal.set(before) }
    let during = attributes(from: before)
    try terminal.set(during)
    let text = fittedText
    terminal.write(text)
    // Enter was not shown, and after Ctrl-C or Ctrl-D the cursor still stands behind the prompt.
    var isLineEnded = false
    defer { if !isLineEnded { terminal.write("\n") } }

    var answer: [UInt8] = []
    while true {
      switch try wait(on: terminal, until: pipe) {
      case .cancelled:
        throw .cancelled
      case .signal(SIGTSTP):
        try terminal.set(before)
        terminal.write("\n")
        signals.stopProcess()
      case .signal(SIGCONT):
        // The shell had the terminal meanwhile and switched echo on.
        try terminal.set(during)
        answer.removeAll()
        terminal.write(text)
      case .signal(let number):
        throw .interrupted(signal: number)
      case .input:
        let isComplete = try read(from: terminal, into: &answer)
        guard isComplete else { continue }
        isLineEnded = echoes
        guard let line = String(validating: answer, as: UTF8.self) else { throw .notText }
        return line
      }
    }
  }

  /// The text, wrapped between words if the window is narrower.
  private var fittedText: String {
    TerminalSize.ofWindow().map { WrappedText.lines(of: text, columns: $0.columns).joined(separator: "\n") } ?? text
  }

  /// Returns attributes with line editing and signals switched on, whatever state the terminal was left in, and echo
  /// as the question wants it.
  private func attributes(from before: termios) -> termios {
    var attributes = before
    attributes.c_iflag |= tcflag_t(ICRNL)
    attributes.c_lflag |= tcflag_t(ICANON) | tcflag_t(ISIG)
    if echoes {
      attributes.c_lflag |= tcflag_t(ECHO) | tcflag_t(ECHOE)
    } else {
      attributes.c_lflag &= ~(tcflag_t(ECHO) | tcflag_t(ECHONL))
    }
    return attributes
  }

  private enum Event {
    case input, cancelled
    case signal(Int32)
  }

  private func wait(on terminal: PromptTerminal, until pipe: WakePipe) throws(PromptError) -> Event {
    guard let signalPipe = PromptSignals.pipe else { throw .failed(code: EMFILE) }
    var entries = [terminal.input, pipe.readEnd, signalPipe.readEnd].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    while true {
      if let number = signalPipe.take() { return .signal(Int32(number)) }
      let ready = poll(&entries, nfds_t(entries.count), -1)
      if ready < 0, errno != EINTR { throw .failed(code: errno) }
      guard ready > 0, entries[2].revents == 0 else { continue }
      return entries[1].revents != 0 ? .cancelled : .input
    }
  }

  /// Reads the available input. Returns whether the line is complete.
  private func read(from terminal: PromptTerminal, into answer: inout [UInt8]) throws(PromptError) -> Bool {
    var chunk = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(terminal.input, &chunk, chunk.count)
    // A hung-up terminal answers EIO.
    if count == 0 || (count < 0 && errno == EIO) { throw .endOfInput }
    guard count > 0 else {
      guard errno == EINTR || errno == EAGAIN else { throw .failed(code: errno) }
      return false
    }
    let line = chunk[..<count].prefix { $0 != UInt8(ascii: "\n") }
    answer += line
    guard answer.count <= limit else { throw .tooLong(limit: limit) }
    return line.count < count
  }
}
