import Foundation

/// A running program that looks like the child of a killed parent: a file records its run, and its environment
/// carries that run's mark.
public struct OrphanedProgram: Sendable {
  private let signals: AsyncStream<Int32?>

  /// - Parameter record: The path of the file that records the run.
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

  /// Waits until the program ends. Call it once.
  ///
  /// - Returns: The signal that ended the program, or `nil` if it exited by itself.
  public func ended() async -> Int32? {
    for await signal in signals { return signal }
    return nil
  }
}
