import Foundation

/// A queue of bytes that travel in one direction, each with the time at which it is delivered.
///
/// Unchecked, because all state is accessed under the condition's lock.
final class DelayLine: @unchecked Sendable {
  private let condition = NSCondition()
  private var queue: [(bytes: [UInt8], due: ContinuousClock.Instant)] = []
  private var first = 0
  private var size = 0
  private var isClosed = false

  private static let capacity = 16 << 20

  /// Adds bytes that are delivered at `due`, after waiting while the line holds more than its capacity. An empty
  /// array marks the end.
  func put(_ bytes: [UInt8], due: ContinuousClock.Instant) {
    condition.lock()
    defer { condition.unlock() }
    while size > Self.capacity, !isClosed { condition.wait() }
    queue.append((bytes, due))
    size += bytes.count
    condition.broadcast()
  }

  /// Waits for the next bytes and returns them when they are due, or `nil` at the end.
  func take() -> [UInt8]? {
    condition.lock()
    while first == queue.count { condition.wait() }
    let (bytes, due) = queue[first]
    queue[first].bytes = []
    first += 1
    if first == queue.count || first == 1024 {
      queue.removeFirst(first)
      first = 0
    }
    size -= bytes.count
    condition.broadcast()
    condition.unlock()
    Self.sleep(until: due)
    return bytes.isEmpty ? nil : bytes
  }

  func close() {
    condition.lock()
    isClosed = true
    condition.broadcast()
    condition.unlock()
  }

  private static func sleep(until due: ContinuousClock.Instant) {
    let left = ContinuousClock.now.duration(to: due).components
    guard left.seconds > 0 || (left.seconds == 0 && left.attoseconds > 0) else { return }
    var time = timespec(tv_sec: Int(left.seconds), tv_nsec: Int(left.attoseconds / 1_000_000_000))
    nanosleep(&time, nil)
  }
}
