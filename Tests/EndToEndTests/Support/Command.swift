import Foundation
import Testing

/// The result of a finished process.
struct Outcome: Sendable {
  var status: Int32
  var output: String
  var errors: String

  var lastLine: String { output.split(separator: "\n").last.map(String.init) ?? "" }

  /// Parses standard output, which must be a JSON object.
  func json() throws -> [String: Any] {
    let object = try JSONSerialization.jsonObject(with: Data(output.utf8))
    return try #require(object as? [String: Any])
  }
}

struct TimedOut: Error, CustomStringConvertible {
  var description: String
}

/// A process under test. Its output goes to files, so that it can never block on a reader.
///
/// Unchecked, because Foundation's Process is not Sendable. It is started here and afterwards only signalled and
/// awaited.
final class RunningCommand: @unchecked Sendable {
  private let process = Process()
  private let directory: String
  private let exited: AsyncStream<Int32>

  init(_ arguments: [String], environment: [String: String] = [:], input: String? = nil) throws {
    directory = NSTemporaryDirectory() + "hpeer-run-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    var handles: [FileHandle?] = []
    // The child has its own: a test with hundreds of commands must not run out of descriptors.
    defer { for handle in handles { try? handle?.close() } }
    if let input {
      _ = FileManager.default.createFile(atPath: directory + "/in", contents: Data(input.utf8))
      let handle = FileHandle(forReadingAtPath: directory + "/in")
      handles.append(handle)
      process.standardInput = handle
    } else {
      process.standardInput = FileHandle.nullDevice
    }
    for (name, isError) in [("out", false), ("err", true)] {
      _ = FileManager.default.createFile(atPath: directory + "/" + name, contents: nil)
      let handle = FileHandle(forWritingAtPath: directory + "/" + name)
      handles.append(handle)
      if isError { process.standardError = handle } else { process.standardOutput = handle }
    }
    let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
    exited = stream
    process.terminationHandler = { process in
      continuation.yield(
        process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus)
      continuation.finish()
    }
    try process.run()
  }

  deinit {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    try? FileManager.default.removeItem(atPath: directory)
  }

  var pid: Int32 { process.processIdentifier }
  var output: String { (try? String(contentsOfFile: directory + "/out", encoding: .utf8)) ?? "" }
  var errors: String { (try? String(contentsOfFile: directory + "/err", encoding: .utf8)) ?? "" }

  func send(_ signal: Int32) {
    // Another process may have the number of one that has ended.
    if process.isRunning { kill(process.processIdentifier, signal) }
  }

  /// Waits for the process to end. If it is still running after `limit`, kills it and throws ``TimedOut``.
  func outcome(within limit: Duration = .seconds(120)) async throws -> Outcome {
    let status = try await withThrowingTaskGroup(of: Int32?.self) { group in
      group.addTask { [exited] in await exited.first { _ in true } }
      group.addTask {
        try await Task.sleep(for: limit)
        return nil
      }
      defer { group.cancelAll() }
      return try await group.next() ?? nil
    }
    guard let status else {
      send(SIGKILL)
      throw TimedOut(description: "still running after \(limit)\nout: \(output)\nerr: \(errors)")
    }
    return Outcome(status: status, output: output, errors: errors)
  }

  /// Waits until standard error matches, and returns the match.
  @discardableResult
  func errors<Match>(matching regex: some RegexComponent<Match>, within limit: Duration = .seconds(60)) async throws
    -> Match
  {
    try await eventually("standard error matches", within: limit) { [self] in
      if let match = errors.firstMatch(of: regex) { return match.output }
      if !process.isRunning {
        throw TimedOut(description: "ended with \(process.terminationStatus)\nout: \(output)\nerr: \(errors)")
      }
      return nil
    }
  }
}

/// Polls until `condition` returns a value, for states of other processes that can't be observed otherwise.
@discardableResult
func eventually<Value>(
  _ what: String, within limit: Duration = .seconds(60), _ condition: () async throws -> Value?
) async throws -> Value {
  let deadline = ContinuousClock.now + limit
  while ContinuousClock.now < deadline {
    if let value = try await condition() { return value }
    try await Task.sleep(for: .milliseconds(20))
  }
  throw TimedOut(description: "not within \(limit): \(what)")
}
