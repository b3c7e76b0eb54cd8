import Foundation
import Testing

/// A command that is stopped in the middle of its work, independent of the machine's speed.
struct HeldCommand {
  let command: RunningCommand
  /// A directory. While it exists, the command stops at each counted call.
  private let condition: String
  private let scratch: Scratch

  /// Starts a command that stops at each end of a transaction (or at each write) under `directory`, and continues it
  /// until `isReached` returns `true`.
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

  /// Lets the command continue to its end, or to the effect of the given signal.
  func release(with signal: Int32? = nil) throws {
    try FileManager.default.removeItem(atPath: condition)
    if let signal { command.send(signal) }
    command.send(SIGCONT)
  }
}

extension Host {
  /// Returns the number of samples visible to readers of the store, without waiting for the locks of a stopped
  /// process.
  func committedSamples() async throws -> Int {
    let arguments = ["sqlite3", "-readonly", home + "/store.sqlite", "SELECT count(*) FROM sample"]
    // There may be no store yet, or it is just being made.
    return Int(try await RunningCommand(arguments).outcome().lastLine) ?? 0
  }
}

extension RunningCommand {
  /// Returns whether the process is stopped by a signal, according to proc(5). Throws if it has ended.
  fileprivate func isStopped() throws -> Bool {
    let text = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
    // The program's name before it is in parentheses, and may hold some of its own.
    let state = text?.split(separator: ")").last?.drop { $0 == " " }.first
    if state == nil || state == "Z" { throw TimedOut(description: "ended before it was held\n\(errors)") }
    return state == "T"
  }
}
