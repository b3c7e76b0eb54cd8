import Foundation
import Synchronization

/// A batch whose payloads have not been encoded as JSON yet.
struct ReadBatch: Sendable {
  private var batch: ImportBatch
  private let payloads: [OpenPayload]

  /// Creates a batch.
  ///
  /// - Parameter payloads: the payloads that the indices in `batch` refer to.
  init(_ batch: ImportBatch, payloads: [OpenPayload]) {
    self.batch = batch
    self.payloads = payloads
  }

  /// Returns the batch with encoded payloads. Throws `EncodingError` for a payload that cannot be written as JSON.
  consuming func finished() throws -> ImportBatch {
    batch.changes.payloads = try payloads.map { try $0.json() }
    return batch
  }
}

/// A bounded queue that hands batches from the reading thread to the consuming thread, so that both can work.
///
/// `@unchecked Sendable`: every mutable field is touched only under `condition`.
final class BatchQueue<Batch: Sendable>: @unchecked Sendable {
  enum Event {
    case batch(Batch)
    /// The number of bytes that have been read.
    case progress(Int64)
    /// The end of the file, with its report, or `nil` for a file without a root element.
    case end(Result<ImportReport?, any Error>)
  }

  /// The maximum number of waiting batches. Each is some megabytes.
  private static var capacity: Int { 2 }

  private let condition = NSCondition()
  private var batches: [Batch] = []
  private var bytes: Int64?
  private var result: Result<ImportReport?, any Error>?
  private var isCancelled = false
  private let isTakerWaiting = Atomic(false)

  /// Whether the consuming thread was idle a moment ago. Cheap to ask.
  var isAwaited: Bool { isTakerWaiting.load(ordering: .relaxed) }

  // MARK: The reading thread

  /// Adds a batch, waiting for room. Throws `CancellationError` if the consumer has cancelled.
  func put(_ batch: Batch) throws {
    // A thread that is woken before the lock is free has to wait again.
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
      // Progress comes before batches. Otherwise a busy consumer, for which a batch is mostly ready, would never see
      // it.
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
