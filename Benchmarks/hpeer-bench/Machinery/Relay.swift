import Foundation
import Synchronization
import TestSupport

/// A TCP relay on loopback that counts what goes by and, like a long cable, lets everything arrive later.
///
/// A thread reads and another writes for each direction, so that nothing waits for anything but its time. On the way
/// there may be more than any rate here times the delay; a receiver that does not read stops the sender beyond that.
final class Relay: Sendable {
  /// Where clients connect.
  let port: Int
  private let target: Int
  private let oneWay: Duration
  private let listener: Int32
  private let counts = Mutex(Counts())

  /// What went by, in both directions.
  struct Counts: Sendable {
    var connections = 0
    var bytes = 0
    /// Of what arrived from the client without a pause: one or more requests, or a part of one.
    var sends = 0
  }

  /// - Parameters:
  ///   - target: the server's port on loopback.
  ///   - roundTrip: what it adds to the time from a request to its answer.
  init(to target: Int, roundTrip: Duration = .zero) throws {
    self.target = target
    oneWay = roundTrip / 2
    listener = try TCPSocket.make()
    port = try TCPSocket.listen(listener)
    let (listener, target) = (listener, target)
    Thread.detachNewThread { [weak self] in
      // It ends when the listener does.
      while let client = TCPSocket.accept(listener) {
        guard let self, let server = TCPSocket.connect(to: target) else {
          close(client)
          continue
        }
        self.begin(client, server)
      }
      close(listener)
    }
  }

  deinit { shutdown(listener, CInt(SHUT_RDWR)) }

  /// What went by since the last time.
  func take() -> Counts {
    counts.withLock { counts in
      defer { counts = Counts() }
      return counts
    }
  }

  private func begin(_ client: Int32, _ server: Int32) {
    counts.withLock { $0.connections += 1 }
    let sockets = Pair(client, server)
    // Over a real cable the handshake of TCP takes a round trip of its own before the client can send.
    let open = ContinuousClock.now + oneWay * 2
    for (from, to, isRequest) in [(client, server, true), (server, client, false)] {
      let line = DelayLine()
      Thread.detachNewThread { [self] in
        while let bytes = Self.read(from) {
          counts.withLock {
            $0.bytes += bytes.count
            if isRequest { $0.sends += 1 }
          }
          line.put(bytes, due: max(.now, open) + oneWay)
        }
        line.put([], due: .now + oneWay)
        withExtendedLifetime(sockets) {}
      }
      Thread.detachNewThread { [oneWay] in
        while let bytes = line.take(isDelayed: oneWay > .zero), TCPSocket.write(bytes[...], to: to) {}
        shutdown(to, CInt(SHUT_WR))
        line.close()
        withExtendedLifetime(sockets) {}
      }
    }
  }

  private static func read(_ descriptor: Int32) -> [UInt8]? {
    let size = 256 * 1024
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      count = max(0, recv(descriptor, buffer.baseAddress, size, 0))
    }
    return bytes.isEmpty ? nil : bytes
  }

  /// Closed when the last thread that may use it is done.
  private final class Pair: Sendable {
    private let sockets: [Int32]
    init(_ sockets: Int32...) { self.sockets = sockets }
    deinit { for socket in sockets { close(socket) } }
  }
}

/// Bytes that are on their way in one direction.
///
/// Unchecked, because all of its state is touched under the condition only.
private final class DelayLine: @unchecked Sendable {
  private let condition = NSCondition()
  private var queue: [(bytes: [UInt8], due: ContinuousClock.Instant)] = []
  private var first = 0
  private var size = 0
  private var isClosed = false

  private static let capacity = 16 << 20

  /// Waits while too much is on the way. No bytes are the end.
  func put(_ bytes: [UInt8], due: ContinuousClock.Instant) {
    condition.lock()
    defer { condition.unlock() }
    while size > Self.capacity, !isClosed { condition.wait() }
    queue.append((bytes, due))
    size += bytes.count
    condition.broadcast()
  }

  /// What is due next, when it is; `nil` at the end.
  func take(isDelayed: Bool) -> [UInt8]? {
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
    if isDelayed { Self.sleep(until: due) }
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
