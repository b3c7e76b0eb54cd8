import Foundation
import Testing

/// The built binary with standard error in the journal, which a file stands for.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct JournalTests {
  /// Runs a command whose standard error is `log`, and says that it is the journal.
  private func start(_ words: String, on host: Host, log: String) throws -> RunningCommand {
    let script = """
      exec 2> '\(log)'
      export HPEER_HOME='\(host.home)' JOURNAL_STREAM="$(stat -L -c %d:%i '\(log)')"
      exec '\(Build.hpeer)' \(words)
      """
    let command = try RunningCommand(["bash", "-c", script])
    host.scratch.keep(command)
    return command
  }

  @Test("every line has its priority, and no date: the journal has its own")
  func serving() async throws {
    let scratch = try Scratch()
    let (host, log) = (scratch.host("studio"), scratch.path + "/log")
    let serve = try start("serve --port 0 --no-advertise --bind 127.0.0.1", on: host, log: log)
    let sharing = try await eventually("it listens") {
      try? String(contentsOfFile: log, encoding: .utf8).firstMatch(of: #/(.*)Sharing .* on port \d+\n/#)?.output.1
    }
    #expect(sharing == "<6>")
    serve.send(SIGTERM)
    #expect(try await serve.outcome().status == 0)
    let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
    #expect(lines.count > 2)
    for line in lines { #expect(line.wholeMatch(of: #/<[3-7]>\D.*/#) != nil, "\(line)") }
  }

  @Test("an error is one")
  func failing() async throws {
    let scratch = try Scratch()
    let (host, log) = (scratch.host("studio"), scratch.path + "/log")
    #expect(try await start("show heartRate", on: host, log: log).outcome().status != 0)
    let text = try String(contentsOfFile: log, encoding: .utf8)
    #expect(text.hasPrefix("<3>hpeer: "), "\(text)")
  }
}
