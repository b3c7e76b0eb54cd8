import Foundation
import GRDB

/// A thread that copies committed pages from the write-ahead log into the database while the writer continues. A bulk
/// write that checkpoints between its own transactions takes a sixth longer.
///
/// SQLite restarts the log only when a transaction begins after the whole log was copied, so the writer sometimes has
/// to wait: ``waitIfLarge()``.
///
/// `@unchecked Sendable`: every mutable field is touched only under `condition`.
final class WALCheckpoints: @unchecked Sendable {
  /// The maximum number of transactions before the writer waits for a checkpoint.
  private static let mostUnseen = 4

  private let condition = NSCondition()
  /// The number of transactions since the last checkpoint began.
  private var unseen = 0
  private var isWorking = false
  private var isStopping = false
  private var hasEnded = false
  private let largeLog: Int
  /// The number of pages in the log at the last checkpoint.
  private var pages = 0

  /// Opens a connection and starts the thread.
  ///
  /// - Parameters:
  ///   - path: the path of a database that is open elsewhere in this process and not checkpointed there.
  ///   - largeLog: the log size from which the writer waits, in pages of 4 KiB.
  init(path: String, largeLog: Int = 12_000) throws {
    self.largeLog = largeLog
    let connection = try DatabaseQueue(path: path)
    Thread.detachNewThread { [self] in run(connection) }
  }

  /// Tells the thread that a transaction was committed.
  func committed() {
    condition.lock()
    unseen += 1
    condition.broadcast()
    condition.unlock()
  }

  /// Waits until the whole log has been copied, if it is large or may have become large. Call this between two
  /// transactions.
  func waitIfLarge() {
    condition.lock()
    defer { condition.unlock() }
    guard pages >= largeLog || unseen >= Self.mostUnseen else { return }
    while unseen > 0 || isWorking { condition.wait() }
  }

  /// Stops the thread, and waits until it has ended.
  func stop() {
    condition.lock()
    defer { condition.unlock() }
    isStopping = true
    condition.broadcast()
    while !hasEnded { condition.wait() }
  }

  private func run(_ connection: DatabaseQueue) {
    while next() {
      // Pages that cannot be copied now stay in the log for the next checkpoint.
      let pages = try? connection.writeWithoutTransaction { try $0.checkpoint(.passive).walFrameCount }
      condition.lock()
      self.pages = pages ?? largeLog
      isWorking = false
      condition.broadcast()
      condition.unlock()
    }
    try? connection.close()
    condition.lock()
    hasEnded = true
    condition.broadcast()
    condition.unlock()
  }

  /// Waits for work, and returns false when the thread should end.
  private func next() -> Bool {
    condition.lock()
    defer { condition.unlock() }
    while unseen == 0, !isStopping { condition.wait() }
    if isStopping { return false }
    unseen = 0
    isWorking = true
    return true
  }
}
