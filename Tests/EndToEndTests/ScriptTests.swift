import Foundation
import Testing

/// Tests of the output of scripts, on terminals and in logs.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ScriptTests {
  private static let progress = Build.root + "/scripts/lib/build-progress"
  private static let log =
    (1...40).map {
      "[\($0)/40] Compiling Module File\($0).swift with a name that is longer than a terminal is wide, by far"
    }
    .joined(separator: "\n") + "\nwarning: something\n[40/40] Linking hpeer\nBuild complete! (9.99s)\n"

  @Test("the progress of a build in a log: a line for each tenth, and everything that is no step")
  func plainProgress() async throws {
    let outcome = try await RunningCommand([Self.progress], input: Self.log).outcome()
    #expect(outcome.status == 0)
    let lines = outcome.errors.split(separator: "\n")
    #expect(lines.count { $0.hasPrefix("Building: ") } == 11, "\(outcome.errors)")
    #expect(lines.last == "Build complete! (9.99s)")
    #expect(lines.contains("warning: something"))
    #expect(!outcome.errors.contains("\u{1B}") && !outcome.errors.contains("\r"))
  }

  @Test("the progress of a build on a terminal: one line that is rewritten and never wraps")
  func terminalProgress() async throws {
    let scratch = try Scratch()
    let path = scratch.path + "/log"
    try Self.log.write(toFile: path, atomically: true, encoding: .utf8)
    let terminal = try PseudoTerminal(["bash", "-c", "'\(Self.progress)' <'\(path)'"])
    try await terminal.text(matching: #/Build complete! \(9\.99s\)\r\n/#)
    #expect(try await terminal.exitStatus() == 0)
    #expect(terminal.lines.count == 3, "\(terminal.lines)")
    let paintings = terminal.text.split(separator: "\r").map { $0.replacing("\u{1B}[K", with: "") }
    #expect(paintings.count { $0.hasPrefix("Building: ") } == 41)
    #expect(paintings.allSatisfy { $0.count <= 78 })
  }
}
