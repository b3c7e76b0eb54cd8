import PeerProtocol
import Synchronization

/// A fair semaphore that limits concurrent work in total and for each client. Clients are served round robin, and the
/// requests of one client in order of arrival.
///
/// Reading and encoding a page of samples occupies a thread for many milliseconds, and there are only as many threads
/// as cores. Without fairness, a short request would wait behind two hundred pages, and one client that requests them
/// would delay all others.
final class FairSemaphore: Sendable {
  /// The permits and the queue of one client.
  fileprivate struct ClientQueue {
    var held = 0
    /// The waiting tasks in order of arrival.
    var waiting: [(id: UInt64, continuation: CheckedContinuation<Void, any Error>)] = []
  }

  fileprivate struct State {
    var free: Int
    var next: UInt64 = 0
    var queues: [PeerID: ClientQueue] = [:]
    /// The clients with waiting tasks, the next in turn first.
    var order: [PeerID] = []
  }

  private let permitsPerClient: Int
  private let ownPermits: Int
  private let queuePerClient: Int
  private let state: Mutex<State>

  /// - Parameters:
  ///   - permits: the maximum number of concurrent permits shared by all clients, in addition to each client's own.
  ///   - permitsPerClient: the maximum number of concurrent permits of one client.
  ///   - ownPermits: the permits of each client that no other can hold. Use this only if the number of clients is
  ///     bounded.
  ///   - queuePerClient: the maximum number of waiting tasks of one client.
  init(permits: Int, permitsPerClient: Int, ownPermits: Int = 0, queuePerClient: Int) {
    state = Mutex(State(free: max(1, permits)))
    self.permitsPerClient = max(1, permitsPerClient)
    self.ownPermits = min(ownPermits, self.permitsPerClient)
    self.queuePerClient = queuePerClient
  }

  /// Suspends until a permit is available and returns it.
  ///
  /// - Throws: `CancellationError` if the task is cancelled meanwhile, or ``ServerFailure`` 429 if the client's queue
  ///   is full.
  func acquire(_ client: PeerID) async throws -> Permit {
    try await wait(client, isLimited: true)
    return Permit(self, client)
  }

  /// The number of waiting tasks of all clients.
  var queueLength: Int { state.withLock { $0.queues.values.reduce(0) { $0 + $1.waiting.count } } }

  fileprivate func wait(_ client: PeerID, isLimited: Bool) async throws {
    let id = state.withLock { state in
      state.next += 1
      return state.next
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let answer: Result<Void, any Error>? = state.withLock { state in
          // Checked under the lock, so that a cancellation is seen either here or by the handler below.
          if Task.isCancelled { return .failure(CancellationError()) }
          var queue = state.queues[client] ?? ClientQueue()
          defer { state.queues[client] = queue }
          if admits(queue, state) {
            if queue.held >= ownPermits { state.free -= 1 }
            queue.held += 1
            return .success(())
          }
          guard !isLimited || queue.waiting.count < queuePerClient else {
            return .failure(ServerFailure.tooManyOfClient)
          }
          if queue.waiting.isEmpty { state.order.append(client) }
          queue.waiting.append((id, continuation))
          return nil
        }
        if let answer { continuation.resume(with: answer) }
      }
    } onCancel: {
      let waiting = state.withLock { state -> CheckedContinuation<Void, any Error>? in
        guard var queue = state.queues[client], let index = queue.waiting.firstIndex(where: { $0.id == id }) else {
          return nil
        }
        let waiting = queue.waiting.remove(at: index)
        state.set(queue, of: client)
        return waiting.continuation
      }
      waiting?.resume(throwing: CancellationError())
    }
  }

  private func admits(_ queue: ClientQueue, _ state: State) -> Bool {
    queue.held < ownPermits || queue.held < permitsPerClient && state.free > 0
  }

  fileprivate func release(_ client: PeerID) {
    let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
      if var queue = state.queues[client] {
        queue.held -= 1
        // A client releases its own permits last.
        if queue.held >= ownPermits { state.free += 1 }
        state.set(queue, of: client)
      }
      // One permit was released, so at most one task gets it: the first in turn that may.
      guard let index = state.order.firstIndex(where: { state.queues[$0].map { admits($0, state) } ?? false })
      else { return nil }
      let admitted = state.order.remove(at: index)
      guard var queue = state.queues[admitted], !queue.waiting.isEmpty else { return nil }
      let waiting = queue.waiting.removeFirst()
      if queue.held >= ownPermits { state.free -= 1 }
      queue.held += 1
      state.queues[admitted] = queue
      if !queue.waiting.isEmpty { state.order.append(admitted) }
      return waiting.continuation
    }
    next?.resume()
  }
}

extension FairSemaphore.State {
  /// Stores a client's queue, or removes it if the client neither holds a permit nor waits.
  fileprivate mutating func set(_ queue: FairSemaphore.ClientQueue, of client: PeerID) {
    if queue.waiting.isEmpty { order.removeAll { $0 == client } }
    queues[client] = queue.held == 0 && queue.waiting.isEmpty ? nil : queue
  }
}

extension FairSemaphore {
  /// A permit, released when its last reference is gone.
  final class Permit: Sendable {
    private let semaphore: FairSemaphore
    private let client: PeerID
    private let isHeld = Mutex(true)

    fileprivate init(_ semaphore: FairSemaphore, _ client: PeerID) {
      self.semaphore = semaphore
      self.client = client
    }

    /// Releases the permit to the next task in turn.
    func release() {
      let wasHeld = isHeld.withLock { isHeld in
        defer { isHeld = false }
        return isHeld
      }
      if wasHeld { semaphore.release(client) }
    }

    /// Acquires the permit again, at the end of the client's queue and regardless of its length. Call this only after
    /// ``release()``.
    func reacquire() async throws {
      try await semaphore.wait(client, isLimited: false)
      isHeld.withLock { $0 = true }
    }

    deinit { release() }
  }
}
