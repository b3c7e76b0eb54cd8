import Foundation
import Synchronization

/// A batch whose payloads are still to be written as JSON.
struct ReadBatch: Sendable {
  private var batch: ImportBatch
  private let payloads: [OpenPayload]

  /// - Parameter payloads: what the indices in `batch` mean.
  init(_ batch: ImportBatch, payloads: [OpenPayload]) {
    self.batch = batch
    self.payloads = payloads
  }

  /// Throws `EncodingError` for what cannot be written as JSON.
  consuming func finished() throws -> ImportBatch {
    batch.changes.payloads = try payloads.map { try $0.json() }
    return batch
  }
}

/// Hands batches from the thread that reads to the one that takes them, a few ahead, so that both work.
///
/// `@unchecked Sendable`: every mutable field is touched only under `condition`.
final class BatchQueue<Batch: Sendable>: @unchecked Sendable {
  enum Event {
    case batch(Batch)
    /// Bytes that have been read.
    case progress(Int64)
    /// `nil` for a file without a root.
    case end(Result<ImportReport?, any Error>)
  }

  /// Each batch is some megabytes.
  private static var capacity: Int { 2 }

  private let condition = NSCondition()
  private var batches: [Batch] = []
  private var bytes: Int64?
  private var result: Result<ImportReport?, any Error>?
  private var isCancelled = false
  private let isTakerWaiting = Atomic(false)

  /// Whether the taking thread has nothing to do; of a moment ago, and cheap to ask.
  var isAwaited: Bool { isTakerWaiting.load(ordering: .relaxed) }

  // MARK: The reading thread

  /// Waits for room. Throws `CancellationError` when nobody takes batches any more.
  func put(_ batch: Batch) throws {
    // Who is woken before the lock is free has to wait again.
    defer { condition.broadcast() }
    condition.lock()
    defer { condition.unlock() }
    while batches.count >= Self.capacity, !isCancelled { condition.wait() }
    if isCancelled { throw CancellationError() }
    batches.append(batch)
    isTakerWaiting.store(false, ordering: .relaxed)
  }

  func report(_ bytes: Int64) throws {
    defer { condition.broadcast() }
    condition.lock()
    defer { condition.unlock() }
    if isCancelled { throw CancellationError() }
    self.bytes = bytes
  }

  func end(_ result: Result<ImportReport?, any Error>) {
    condition.lock()
    self.result = result
    condition.broadcast()
    condition.unlock()
  }

  // MARK: The taking thread

  func next() -> Event {
    condition.lock()
    defer { condition.unlock() }
    while true {
      // Before the batches, of which there is mostly one: else a busy taker would never learn of it.
      if let bytes {
        self.bytes = nil
        return .progress(bytes)
      }
      if !batches.isEmpty {
        condition.broadcast()
        return .batch(batches.removeFirst())
      }
      if let result { return .end(result) }
      isTakerWaiting.store(true, ordering: .relaxed)
      condition.wait()
    }
  }

  /// Stops the reading thread and waits until it has ended.
  func cancel() {
    condition.lock()
    defer { condition.unlock() }
    isCancelled = true
    batches.removeAll()
    condition.broadcast()
    while result == nil { condition.wait() }
  }
}
