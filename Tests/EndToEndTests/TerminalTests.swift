import Foundation
import Testing

/// Tests of output and input at a terminal.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct TerminalTests {
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
  }

  private func serve(_ home: Host, columns: UInt16 = 80, rows: UInt16 = 24) throws -> PseudoTerminal {
    try PseudoTerminal(
      [
        "HPEER_HOME=\(home.home)", Build.hpeer, "serve", "--port", "0", "--no-advertise", "--bind", "127.0.0.1",
        "--name", "studio",
      ], columns: columns, rows: rows)
  }

  /// Returns the code that is currently shown.
  private func code(_ terminal: PseudoTerminal) async throws -> String {
    String(try await terminal.text(matching: #/Code: (?:\u{1B}\[[0-9;]*m)*(\d{3} \d{3})/#).1)
  }

  /// Returns when an 80x24 screen shows the whole QR code, which arrives in pieces together with the text beside it.
  private func wholeScreen(_ terminal: PseudoTerminal) async throws {
    try await terminal.text(matching: #/Ctrl-C: stop/#)
    // The last row is where the cursor is.
    try await eventually("all of the code") { terminal.lines.count >= 23 ? true : nil }
  }

  @Test("the QR code on the screen is read by a real decoder and pairs another machine")
  func qrCode() async throws {
    let home = scratch.host("home")
    try await home.hold(.small)
    let terminal = try serve(home)
    let digits = try await code(terminal).replacing(" ", with: "")
    try await wholeScreen(terminal)
    let picture = try #require(ScreenQR.picture(of: terminal.text))
    let path = scratch.path + "/screen.pgm"
    try picture.write(to: URL(fileURLWithPath: path))
    let decoded = try await home.sh("zbarimg -q --raw '\(path)'")
    #expect(decoded.status == 0, "\(decoded.errors)")
    #expect(decoded.output.hasPrefix("HPEER:P1/127.0.0.1:"))
    #expect(decoded.output.contains("/\(digits)"))

    let client = scratch.host("client")
    #expect(try await client.run("pair", "-", input: decoded.output).status == 0)
    #expect(try await client.run("pull").status == 0)
    #expect(try await client.contents() == home.contents())
    try await terminal.text(matching: #/Paired with/#)
  }

  @Test("on 80x24 the whole QR code, what to type and whose record it is are on the screen at once")
  func classicScreen() async throws {
    let home = scratch.host("home")
    try await home.hold(.small)
    let terminal = try serve(home)
    try await wholeScreen(terminal)
    let screen = terminal.lines.suffix(24)
    #expect(screen.count { $0.contains("█") || $0.contains("▀") } >= 17, "\(terminal.text)")
    let port = try #require(try #/Sharing .* at 127\.0\.0\.1:(\d+)/#.firstMatch(in: terminal.text)?.1)
    for text in [
      "Sharing ", "Code: ", "On the other machine:", "hpeer pull --host 127.0.0.1:\(port)", "SHA-256 ",
      "The record of a person born",
    ] {
      #expect(screen.contains { $0.contains(text) }, "\(text): \(screen)")
    }
    #expect(terminal.lines.allSatisfy { $0.count < 80 }, "\(terminal.lines)")
  }

  @Test("a narrow terminal has the code below, a small one has no QR code, and both say what to type")
  func otherScreens() async throws {
    let high = try serve(scratch.host("high"), columns: 50, rows: 50)
    try await high.text(matching: #/hpeer pull --host 127/#)
    #expect(ScreenQR.picture(of: high.text) != nil)
    #expect(high.lines.contains { $0.hasPrefix("Code: ") })
    let small = try serve(scratch.host("small"), columns: 50, rows: 20)
    try await small.text(matching: #/hpeer pull --host 127/#)
    #expect(!small.text.contains("▀"))
    #expect(small.text.contains("HPEER:P1/127.0.0.1:"))
    #expect(small.lines.contains { $0.hasPrefix("Code: ") })
  }

  @Test("a window that is opened from another terminal says what to type, too")
  func waiting() async throws {
    let home = scratch.host("home")
    let (_, port) = try await home.serve(["--port", "0", "--no-advertise", "--bind", "127.0.0.1"])
    let terminal = try PseudoTerminal(["HPEER_HOME=\(home.home)", Build.hpeer, "pair", "--wait"])
    try await terminal.text(matching: #/SHA-256/#)
    #expect(terminal.text.contains("hpeer pull --host 127.0.0.1:\(port)"))
    #expect(ScreenQR.picture(of: terminal.text) != nil)
    let (_, piped) = try await home.openWindow()
    try await piped.errors(matching: #/hpeer pull --host 127\.0\.0\.1:\d+/#)
    #expect(!piped.errors.contains("\n\n"), "\(piped.errors)")
  }

  @Test("a code is seen while it is typed; a wrong one is asked for again")
  func typedCode() async throws {
    let home = scratch.host("home")
    try await home.hold(.small)
    let server = try serve(home)
    let first = try await code(server)
    let port = try await server.text(matching: #/127\.0\.0\.1:(\d+)/#).1
    let client = scratch.host("client")
    // Whose days count is another question.
    #expect(try await client.run("zone", "Europe/Berlin").status == 0)
    let terminal = try PseudoTerminal(["HPEER_HOME=\(client.home)", Build.hpeer, "pull", "--host", "127.0.0.1:\(port)"])
    try await terminal.text(matching: #/Code shown on studio: /#)
    let wrong = first == "000 000" ? "000001" : "000000"
    terminal.type(wrong + "\n")
    try await terminal.text(matching: #/Wrong code\. 4 attempts left/#)
    try await server.text(matching: #/new code/#)
    let second = try await eventually("a new code is shown") { [self] in
      let now = try await code(server)
      return now == first ? nil : now
    }
    try await eventually("asked again") { terminal.text.matches(of: #/Code shown on/#).count == 2 ? true : nil }
    terminal.type(second + "\n")
    try await terminal.text(matching: #/added, 0 deleted/#)
    #expect(try await terminal.exitStatus() == 0)
    // It is on the other screen, too, and good for once.
    #expect(terminal.text.contains(wrong) && terminal.text.contains(second))
    #expect(try await client.contents() == home.contents())
  }

  @Test("n and Enter makes a new code; Ctrl-C says goodbye")
  func newCode() async throws {
    let server = try serve(scratch.host("home"))
    let first = try await code(server)
    server.type("n\n")
    try await eventually("a new code is shown") { [self] in
      try await code(server) == first ? nil : true
    }
    server.type("\u{3}")
    try await server.text(matching: #/Goodbye/#)
    #expect(try await server.exitStatus() == 0)
  }
}
