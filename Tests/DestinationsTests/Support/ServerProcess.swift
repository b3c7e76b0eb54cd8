import Foundation
import Synchronization
import TestSupport

/// A third-party server process that ends when the last reference to it is released.
final class ServerProcess: Sendable {
  /// The server's port: the number that it printed after the awaited text.
  let port: Int
  private let process: Process
  private let endSignal: Int32

  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// Starts the server and waits, for a few seconds at most, until it prints a text directly followed by its port.
  ///
  /// - Parameters:
  ///   - mark: The text, such as `ACCEPT 127.0.0.1:`.
  ///   - endSignal: The signal that ends the server. Use `SIGTERM` for a server with child processes.
  init(
    _ program: String, _ arguments: [String], in folder: String? = nil, until mark: String,
    endedBy endSignal: Int32 = SIGKILL
  ) throws {
    self.endSignal = endSignal
    process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = arguments
    if let folder { process.currentDirectoryURL = URL(filePath: folder) }
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    process.standardInput = FileHandle.nullDevice
    try process.runUnblocked()
    var said = ""
    var found: Int?
    while found == nil {
      let bytes = output.fileHandleForReading.availableData
      if bytes.isEmpty { break }
      said += String(decoding: bytes, as: UTF8.self)
      guard let range = said.range(of: mark), let end = said[range.upperBound...].firstIndex(where: { !$0.isNumber })
      else { continue }
      found = Int(said[range.upperBound..<end])
    }
    // What it says later must not stop it.
    output.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
    guard let found else {
      process.terminate()
      throw Failure(description: "\(program) has not begun: \(said)")
    }
    port = found
  }

  deinit {
    kill(process.processIdentifier, endSignal)
    process.waitUntilExit()
  }
}

/// Runs a program to its end. Blocks the thread.
func output(of program: String, _ arguments: [String], in folder: String? = nil) throws -> (status: Int32, text: String)
{
  let process = Process()
  process.executableURL = URL(filePath: program)
  process.arguments = arguments
  if let folder { process.currentDirectoryURL = URL(filePath: folder) }
  let output = Pipe()
  process.standardOutput = output
  process.standardError = output
  process.standardInput = FileHandle.nullDevice
  try process.runUnblocked()
  let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
  process.waitUntilExit()
  return (process.terminationStatus, text)
}
