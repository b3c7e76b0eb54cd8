import Foundation
import Synchronization
import TestSupport

/// Somebody else's server, which ends with the last reference to it.
final class ServerProcess: Sendable {
  /// What it printed on the line that was waited for, as far as it is a number: where it listens.
  let port: Int
  private let process: Process
  private let endSignal: Int32

  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  /// Starts it, and returns when it prints a line with this text, directly before a port. Blocks: some seconds at most.
  ///
  /// - Parameters:
  ///   - mark: such as `ACCEPT 127.0.0.1:`.
  ///   - endSignal: of a program that ends others with itself, `SIGTERM`.
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

/// Runs a program to its end. Blocks.
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
