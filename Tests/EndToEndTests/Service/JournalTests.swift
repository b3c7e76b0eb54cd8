import Foundation
import TestSupport
import Testing

/// Tests of the built binary with standard error connected to the journal.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct JournalTests {
  /// Starts a command whose standard error is the file `log` and is declared to be the journal, which takes no
  /// entries.
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

  /// Starts a command whose standard error is connected to a journal.
  private func start(words: [String], on host: Host, in journal: JournalStandIn) throws -> RunningCommand {
    let script = """
      import os, socket, sys
      stream = socket.socket(socket.AF_UNIX)
      stream.connect(sys.argv[1])
      os.dup2(stream.fileno(), 2)
      status = os.fstat(2)
      os.environ["JOURNAL_STREAM"] = f"{status.st_dev}:{status.st_ino}"
      os.execv(sys.argv[2], sys.argv[2:])
      """
    let command = try RunningCommand(
      ["python3", "-c", script, journal.stream, Build.hpeer] + words, environment: ["HPEER_HOME": host.home])
    host.scratch.keep(command)
    return command
  }

  private static let serving = ["serve", "--port", "0", "--no-advertise", "--bind", "127.0.0.1"]

  @Test("a journal gets entries with fields, and nothing on the stream")
  func entries() async throws {
    let (scratch, directory) = (try Scratch(), try TemporaryDirectory())
    let journal = try JournalStandIn(in: directory)
    let serve = try start(words: Self.serving, on: scratch.host("studio"), in: journal)
    let started = try await eventually("it listens") {
      try journal.entries().first { $0["HPEER_EVENT"] == "server.started" }
    }
    #expect(started["MESSAGE"]?.wholeMatch(of: #/Sharing .* on port \d+/#) != nil, "\(started)")
    #expect(started["PRIORITY"] == "6")
    serve.send(SIGTERM)
    #expect(try await serve.outcome().status == 0)
    let entries = try await eventually("it has ended") {
      let entries = try journal.entries()
      return entries.contains { $0["HPEER_EVENT"] == "process.stopped" } ? entries : nil
    }
    for entry in entries { #expect(entry["SYSLOG_IDENTIFIER"] == "hpeer", "\(entry)") }
    #expect(try journal.written() == "")
  }

  @Test("where the journal takes no entries, they are lines with a priority")
  func withoutSocket() async throws {
    let (scratch, directory) = (try Scratch(), try TemporaryDirectory())
    let journal = try JournalStandIn(in: directory, takesEntries: false)
    let command = try start(words: ["show", "heartRate"], on: scratch.host("studio"), in: journal)
    #expect(try await command.outcome().status != 0)
    let text = try journal.written()
    #expect(text.hasPrefix("<3>hpeer: "), "\(text)")
  }
}
