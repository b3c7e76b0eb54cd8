import Foundation
import Testing

/// A command that is stopped in the middle of its work, however fast the machine is.
struct HeldCommand {
  let command: RunningCommand
  /// While this directory is there, the command stops at what is counted.
  private let condition: String
  private let scratch: Scratch

  /// Starts a command that stops at each end of a transaction (or at each write) under `directory`, and lets it go on
  /// until `isReached` says that it is where it is wanted.
  init(
    _ arguments: [String], on host: Host, at counted: FaultyWrites.Point.Counted = .commits,
    under directory: String? = nil,
    once isReached: () async throws -> Bool
  ) async throws {
    scratch = try Scratch()
    condition = scratch.path
    let point = FaultyWrites.Point(call: 1, kind: .hold, counted: counted)
    let environment = try FaultyWrites.environment(home: directory ?? host.home, at: point, while: condition)
    command = try host.start(arguments, environment: environment)
    repeat {
      command.send(SIGCONT)
      try await eventually("stopped in the middle") { [command] in try command.isStopped() ? true : nil }
    } while try await !isReached()
  }

  /// Lets it go on to its end, or to what the signal makes of it.
  func release(with signal: Int32? = nil) throws {
    try FileManager.default.removeItem(atPath: condition)
    if let signal { command.send(signal) }
    command.send(SIGCONT)
  }
}

extension Host {
  /// What readers of the store can see, without waiting for the locks of a process that is stopped.
  func committedSamples() async throws -> Int {
    let arguments = ["sqlite3", "-readonly", home + "/store.sqlite", "SELECT count(*) FROM sample"]
    // There may be no store yet, or it is just being made.
    return Int(try await RunningCommand(arguments).outcome().lastLine) ?? 0
  }
}

extension RunningCommand {
  /// Stopped by a signal, as proc(5) says; throws where it has ended.
  fileprivate func isStopped() throws -> Bool {
    let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
    // The program's name before it is in parentheses, and may hold some of its own.
    let state = text?.split(separator: ")").last?.drop { $0 == " " }.first
    if state == nil || state == "Z" { throw TimedOut(description: "ended before it was held\n\(errors)") }
    return state == "T"
  }
}
