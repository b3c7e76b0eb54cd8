import Foundation
import GRDB

/// Copies what has been committed from the write-ahead log into the database, on a thread of its own while the next is
/// being written: a bulk write that checkpoints between its transactions takes a sixth longer.
///
/// SQLite begins the log anew only when a transaction begins and all of the log has been copied, so now and then the
/// writer has to wait: ``waitIfLarge()``.
///
/// `@unchecked Sendable`: every mutable field is touched only under `condition`.
final class WALCheckpoints: @unchecked Sendable {
  /// Maximum transactions of the writer since the last look at the log.
  private static let mostUnseen = 4

  private let condition = NSCondition()
  /// Transactions since the last checkpoint began.
  private var unseen = 0
  private var isWorking = false
  private var isStopping = false
  private var hasEnded = false
  private let largeLog: Int
  /// The size of the log in pages, when it was last looked at.
  private var pages = 0

  /// - Parameters:
  ///   - path: of a database that is open elsewhere in this process and not checkpointed there.
  ///   - largeLog: from how many pages of 4 KiB on the writer waits.
  init(path: String, largeLog: Int = 12_000) throws {
    self.largeLog = largeLog
    let connection = try DatabaseQueue(path: path)
    Thread.detachNewThread { [self] in run(connection) }
  }

  /// Tells the thread that a transaction was committed, so that there is more to copy.
  func committed() {
    condition.lock()
    unseen += 1
    condition.broadcast()
    condition.unlock()
  }

  /// Between two transactions: waits until all has been copied, if the log has become large, or may have.
  func waitIfLarge() {
    condition.lock()
    defer { condition.unlock() }
    guard pages >= largeLog || unseen >= Self.mostUnseen else { return }
    while unseen > 0 || isWorking { condition.wait() }
  }

  /// Ends the thread, and waits until it has ended.
  func stop() {
    condition.lock()
    defer { condition.unlock() }
    isStopping = true
    condition.broadcast()
    while !hasEnded { condition.wait() }
  }

  private func run(_ connection: DatabaseQueue) {
    while next() {
      // What cannot be copied now stays in the log, and the next checkpoint, here or elsewhere, tries again.
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

  /// Waits for something to do; false when there will be nothing more.
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
