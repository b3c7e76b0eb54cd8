import Foundation
import OperatingSystem
import TestSupport
import Testing

@Suite("Programs that leave others behind", .timeLimit(.minutes(2))) struct ChildTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory(inMemory: true) }

  /// Kills the process whose ID a program wrote to a file.
  private func end(_ file: String) throws {
    let text = try String(contentsOfFile: directory.path(file), encoding: .utf8)
    if let pid = Int32(text.trimmingCharacters(in: .whitespacesAndNewlines)) { kill(pid, SIGKILL) }
  }

  @Test("a program has ended when it has, whatever it left behind goes on saying")
  func chatter() async throws {
    let script = "echo last words >&2; yes more >&2 & echo $! > '\(directory.path("pid"))'; exit 3"
    let program = ChildProgram("/bin/sh", arguments: ["-c", script], folder: directory.path("state"))
    let end = try await program.run(input: [])
    try self.end("pid")
    #expect(end.status == .exit(3))
  }

  @Test("the last words of a program are kept")
  func lastWords() async throws {
    let program = ChildProgram(
      "/bin/sh", arguments: ["-c", "for n in 1 2 3; do echo word $n >&2; done; exit 1"], folder: directory.path("state")
    )
    let end = try await program.run(input: [])
    #expect(end.status == .exit(1) && end.said == "word 1; word 2; word 3")
  }

  @Test("a command's limit holds also where a process that it started keeps its output open")
  func openOutput() async throws {
    let script = "echo said; sleep 3600 & echo $! > '\(directory.path("pid"))'"
    let outcome = await CommandRunner.run(
      path: "/bin/sh", ["-c", script], variables: ["PATH": "/bin:/usr/bin"], limit: 60)
    try end("pid")
    #expect(outcome.output == "said\n")
  }

  @Test("a command that doesn't end is killed, and all that a command writes is read")
  func limit() async {
    #expect(await CommandRunner.run("sleep", ["3600"], limit: 0.2) == .failed)
    let outcome = await CommandRunner.run("seq", ["200000"], limit: 60)
    #expect(outcome.output?.utf8.count == 1_288_895)
  }
}
