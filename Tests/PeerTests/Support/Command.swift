import Foundation

/// The result of a system program that has ended.
struct Command {
  var status: Int32
  var output: String
  var errors: String

  /// Returns the path of a program, or `nil` if it isn't installed.
  static func find(_ name: String) -> String? {
    let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    return directories.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
  }

  static func run(_ path: String, _ arguments: [String], input: String = "") async throws -> Command {
    try await withCheckedThrowingContinuation { continuation in
      // Waiting for a process blocks, so it has a thread of its own.
      Thread.detachNewThread {
        continuation.resume(with: Swift.Result { try runBlocking(path, arguments, input: input) })
      }
    }
  }

  private static func runBlocking(_ path: String, _ arguments: [String], input: String) throws -> Command {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    let (standardInput, standardOutput, standardError) = (Pipe(), Pipe(), Pipe())
    process.standardInput = standardInput
    process.standardOutput = standardOutput
    process.standardError = standardError
    try process.run()
    standardInput.fileHandleForWriting.write(Data(input.utf8))
    try standardInput.fileHandleForWriting.close()
    // Both are short: neither pipe fills while the other is read.
    let output = standardOutput.fileHandleForReading.readDataToEndOfFile()
    let errors = standardError.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Command(
      status: process.terminationStatus, output: String(decoding: output, as: UTF8.self),
      errors: String(decoding: errors, as: UTF8.self))
  }
}
