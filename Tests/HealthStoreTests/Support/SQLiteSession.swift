import Foundation

/// A running `sqlite3` process, which holds the locks of its statements.
final class SQLiteSession {
  private let process = Process()
  private let input = Pipe()
  private let output: FileHandle

  init(_ database: String) throws {
    guard let path = SQLiteShell.path else { throw SQLiteShell.Failure(message: "there is no sqlite3") }
    let pipe = Pipe()
    output = pipe.fileHandleForReading
    process.executableURL = URL(filePath: path)
    process.arguments = ["-bail", database]
    process.standardInput = input
    process.standardOutput = pipe
    try process.run()
  }

  /// Runs a statement and waits for its end.
  func run(_ sql: String) async throws {
    try input.fileHandleForWriting.write(contentsOf: Data("\(sql);\nSELECT 'done';\n".utf8))
    let output = output
    let answer = await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: output.availableData) }
    }
    guard String(decoding: answer, as: UTF8.self).contains("done") else {
      throw SQLiteShell.Failure(message: "sqlite3 has ended")
    }
  }

  func end() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
