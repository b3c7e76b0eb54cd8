import Foundation

/// A source that reads another source some chunks ahead on a thread of its own, so that inflating and parsing
/// overlap.
///
/// `@unchecked Sendable`: every mutable field is touched only under `condition`, the inner source only by the thread.
final class ReadAhead: ByteSource, @unchecked Sendable {
  private struct Chunk {
    var start: UnsafeMutablePointer<UInt8>
    var count = 0
    var position = 0
  }

  private static let chunkSize = 512 << 10
  private static let chunks = 3

  private let source: any ByteSource
  private let condition = NSCondition()
  private var filled: [Chunk] = []
  private var free: [Chunk]
  private var current: Chunk?
  private var failure: ImportError?
  private var isFinished = false
  private var isClosed = false

  init(_ source: any ByteSource) {
    self.source = source
    free = (0..<Self.chunks).map { _ in Chunk(start: .allocate(capacity: Self.chunkSize)) }
    Thread.detachNewThread { [self] in fill() }
  }

  deinit {
    for chunk in free + filled + [current].compactMap(\.self) { chunk.start.deallocate() }
  }

  func read(into buffer: UnsafeMutablePointer<UInt8>, count: Int) throws(ImportError) -> Int {
    guard var chunk = try nextChunk() else { return 0 }
    let length = min(count, chunk.count - chunk.position)
    buffer.update(from: chunk.start + chunk.position, count: length)
    chunk.position += length
    condition.lock()
    current = chunk.position < chunk.count ? chunk : nil
    if current == nil { free.append(chunk) }
    let isDue = current == nil && isWorthWaking
    condition.unlock()
    // A thread that is woken before would find the lock taken.
    if isDue { condition.broadcast() }
    return length
  }

  /// Stops the thread and waits until it no longer uses the source.
  func close() {
    condition.lock()
    defer { condition.unlock() }
    isClosed = true
    condition.broadcast()
    while !isFinished { condition.wait() }
  }

  /// Returns the current chunk or the next one, or `nil` at the end.
  private func nextChunk() throws(ImportError) -> Chunk? {
    condition.lock()
    defer { condition.unlock() }
    if let current { return current }
    while filled.isEmpty && !isFinished { condition.wait() }
    if !filled.isEmpty { return filled.removeFirst() }
    if let failure { throw failure }
    return nil
  }

  private func fill() {
    while var chunk = emptyChunk() {
      var failure: ImportError?
      do throws(ImportError) {
        chunk.count = try source.read(into: chunk.start, count: Self.chunkSize)
      } catch {
        chunk.count = 0
        failure = error
      }
      chunk.position = 0
      condition.lock()
      if chunk.count > 0 { filled.append(chunk) } else { free.append(chunk) }
      self.failure = failure
      condition.unlock()
      condition.broadcast()
      if chunk.count == 0 { break }
    }
    source.close()
    condition.lock()
    isFinished = true
    condition.broadcast()
    condition.unlock()
  }

  /// Whether the thread should be woken. Waking a thread is slow, so it fills two chunks at a time, unless the reader
  /// is out of data.
  private var isWorthWaking: Bool { free.count >= 2 || !free.isEmpty && filled.isEmpty }

  private func emptyChunk() -> Chunk? {
    condition.lock()
    defer { condition.unlock() }
    if free.isEmpty {
      while !isWorthWaking && !isClosed { condition.wait() }
    }
    return isClosed ? nil : free.removeLast()
  }
}
