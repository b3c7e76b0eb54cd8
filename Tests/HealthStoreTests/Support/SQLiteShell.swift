import Foundation
import HealthStore

/// The `sqlite3` command line tool, which works on a store's file as another process.
enum SQLiteShell {
  static let path = ["/usr/bin/sqlite3", "/usr/local/bin/sqlite3", "/opt/homebrew/bin/sqlite3"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  static var isAvailable: Bool { path != nil }

  /// Runs statements and returns their output. Throws if SQLite fails.
  @discardableResult
  static func run(_ sql: String, on database: String) async throws -> String {
    guard let path else { throw Failure(message: "there is no sqlite3") }
    let process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments = ["-bail", database, sql]
    let (output, errors) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = errors
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in continuation.resume() }
      do {
        try process.run()
      } catch {
        process.terminationHandler = nil
        continuation.resume(throwing: error)
      }
    }
    // The statements of these tests print a few lines, which fit into a pipe's buffer.
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let message = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    guard process.terminationStatus == 0 else { throw Failure(message: message) }
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  struct Failure: Error {
    var message: String
  }
}
