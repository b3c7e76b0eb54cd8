import Foundation
import Synchronization

/// A process on its own terminal, 80x24 by default, and everything that it has written there.
final class PseudoTerminal: Sendable {
  private let screen = Mutex<(bytes: [UInt8], isOver: Bool)>(([], false))
  private let primary: Int32
  private let process: Mutex<Process>

  init(_ arguments: [String], columns: UInt16 = 80, rows: UInt16 = 24) throws {
    var primary: Int32 = 0
    var secondary: Int32 = 0
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    guard openpty(&primary, &secondary, nil, nil, &size) == 0 else { throw POSIXError(.EIO) }
    _ = fcntl(primary, F_SETFD, FD_CLOEXEC)
    self.primary = primary
    let descriptor = primary
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    // A session of its own, so that the terminal is the controlling one, as at a real one.
    process.arguments = ["setsid", "--ctty", "--wait", "env", "TERM=xterm-256color", "LC_ALL=C.UTF-8"] + arguments
    let terminal = FileHandle(fileDescriptor: secondary, closeOnDealloc: false)
    process.standardInput = terminal
    process.standardOutput = terminal
    process.standardError = terminal
    defer { close(secondary) }
    try process.run()
    self.process = Mutex(process)
    Thread { [weak self] in
      var buffer = [UInt8](repeating: 0, count: 65_536)
      while true {
        let count = read(descriptor, &buffer, buffer.count)
        guard let self else { return }
        // EIO: the last process on the terminal has ended.
        guard count > 0 else { return self.screen.withLock { $0.isOver = true } }
        // A read may end within a character.
        self.screen.withLock { $0.bytes += buffer[..<count] }
      }
    }.start()
  }

  deinit {
    process.withLock { if $0.isRunning { $0.terminate() } }
    close(primary)
  }

  /// Everything that was written, including control sequences.
  var text: String { String(decoding: screen.withLock { $0.bytes }, as: UTF8.self) }

  /// The lines without control sequences, from the first line written to the cursor's line.
  var lines: [String] {
    text.replacing(#/\u{1B}\[[0-9;]*[mK]/#, with: "").replacing("\r\n", with: "\n")
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  func type(_ text: String) {
    _ = text.withCString { write(primary, $0, strlen($0)) }
  }

  @discardableResult
  func text<Match>(matching regex: some RegexComponent<Match>) async throws -> Match {
    try await eventually("the terminal shows \(regex): \(text.suffix(500))") { [self] in
      text.matches(of: regex).last?.output
    }
  }

  /// Waits for the process to end and for all of its output to be read, and returns its exit status.
  func exitStatus() async throws -> Int32 {
    let status = try await eventually("the process ends") { [self] in
      process.withLock { $0.isRunning ? nil : $0.terminationStatus }
    }
    try await eventually("the terminal is left by all") { [self] in screen.withLock { $0.isOver ? true : nil } }
    return status
  }
}

/// A reader of QR codes on a terminal.
enum ScreenQR {
  /// Returns the half blocks on `screen` as a portable graymap in which a module is `scale` pixels wide.
  static func picture(of screen: String, scale: Int = 6) -> Data? {
    // A row is painted black on white from its first to its last column; there may be text beside it.
    let rows = screen.matches(of: #/\u{1B}\[38;5;16;48;5;231m([ ▀▄█]{21,})\u{1B}\[0m/#).map { Array($0.1) }
    guard let width = rows.first?.count, rows.count >= 11 else { return nil }
    var pixels = Data()
    for row in rows where row.count == width {
      for half in 0..<2 {
        var line = Data()
        for cell in row {
          let isDark = cell == "█" || cell == (half == 0 ? "▀" : "▄")
          line.append(Data(repeating: isDark ? 0 : 255, count: scale))
        }
        for _ in 0..<scale { pixels.append(line) }
      }
    }
    let height = pixels.count / (width * scale)
    return Data("P5 \(width * scale) \(height) 255\n".utf8) + pixels
  }
}
