import Foundation

/// A program as one is left running by a process that was killed: it has the mark of its run, and a file names that.
public struct LeftoverProgram: Sendable {
  private let signal: Task<Int32?, any Error>

  /// - Parameter record: the file.
  public init(record: String) throws {
    let name = UUID().uuidString
    let file = URL(filePath: record)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(name.utf8).write(to: file)
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    // The shell and what it has started.
    process.arguments = ["-c", "sleep 1000; :"]
    process.environment = ["PATH": "/usr/bin:/bin", "HPEER_RUN": name]
    let (ends, continuation) = AsyncStream.makeStream(of: Int32?.self)
    process.terminationHandler = { ended in
      continuation.yield(ended.terminationReason == .uncaughtSignal ? ended.terminationStatus : nil)
      continuation.finish()
    }
    try process.run()
    signal = Task {
      for await end in ends { return end }
      throw CancellationError()
    }
  }

  /// Waits for its end.
  ///
  /// - Returns: the signal that ended it.
  public func ended() async throws -> Int32? { try await signal.value }
}
