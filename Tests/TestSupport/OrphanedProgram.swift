import Foundation

/// A program whose parent was killed: its run is recorded in a file, and its environment has the mark of that run.
public struct OrphanedProgram: Sendable {
  private let signals: AsyncStream<Int32?>

  /// - Parameter record: the path of the file.
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
    let (signals, signal) = AsyncStream.makeStream(of: Int32?.self)
    self.signals = signals
    process.terminationHandler = { ended in
      signal.yield(ended.terminationReason == .uncaughtSignal ? ended.terminationStatus : nil)
      signal.finish()
    }
    try process.runUnblocked()
  }

  /// Waits for its end, once.
  ///
  /// - Returns: the signal that ended it.
  public func ended() async -> Int32? {
    for await signal in signals { return signal }
    return nil
  }
}
