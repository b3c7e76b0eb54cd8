import Dispatch
import Glibc

@testable import Terminal

/// A terminal whose screen and keyboard the test controls.
final class PseudoTerminal: Sendable {
  struct Unavailable: Error {}
  struct TimedOut: Error { let screen: String }

  // TIOCSPTLCK and TIOCGPTN of ioctl_tty(2): macros that Swift cannot import, as Glibc's module leaves out posix_openpt.
  private static let setLock: UInt = 0x4004_5431
  private static let getNumber: UInt = 0x8004_5430

  /// The program's end of the terminal.
  let terminal: Int32
  private let keyboard: Int32

  init() throws {
    keyboard = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var locked: Int32 = 0
    var number: Int32 = 0
    guard keyboard >= 0,
      ioctl(keyboard, PseudoTerminal.setLock, &locked) == 0,
      ioctl(keyboard, PseudoTerminal.getNumber, &number) == 0
    else { throw Unavailable() }
    terminal = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { throw Unavailable() }
  }

  deinit {
    close(keyboard)
    close(terminal)
  }

  var prompt: PromptTerminal {
    PromptTerminal(input: terminal, output: terminal)
  }

  var echoes: Bool {
    attributes.c_lflag & tcflag_t(ECHO) != 0
  }

  var attributes: termios {
    var attributes = termios()
    tcgetattr(terminal, &attributes)
    return attributes
  }

  func type(_ text: String) throws {
    try type(Array(text.utf8))
  }

  func type(_ bytes: [UInt8]) throws {
    try OutputWriter(descriptor: keyboard).write(bytes)
  }

  /// Returns the screen's content once it contains `text`.
  func screen(until text: String) async throws -> String {
    let keyboard = self.keyboard
    let result = await withCheckedContinuation { continuation in
      DispatchQueue(label: "PseudoTerminal").async {
        var seen: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1024)
        var entry = pollfd(fd: keyboard, events: Int16(POLLIN), revents: 0)
        while !String(decoding: seen, as: UTF8.self).contains(text) {
          guard poll(&entry, 1, 60_000) == 1 else {
            let screen = String(decoding: seen, as: UTF8.self)
            return continuation.resume(returning: Result<String, TimedOut>.failure(TimedOut(screen: screen)))
          }
          let count = read(keyboard, &chunk, chunk.count)
          seen += chunk[..<max(0, count)]
        }
        continuation.resume(returning: .success(String(decoding: seen, as: UTF8.self)))
      }
    }
    return try result.get()
  }
}
