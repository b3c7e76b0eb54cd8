import PeerProtocol
import Synchronization

/// A fair semaphore: limits the concurrent work in all and for each client. Clients are served round robin, the
/// requests of one in order of arrival.
///
/// Reading and encoding a page of samples keeps a thread for many milliseconds. There are no more threads than cores,
/// so among two hundred concurrent requests a short one would wait behind two hundred pages; and one client that sends
/// them would have all others wait.
final class WorkGate: Sendable {
  /// The permits and the queue of one client.
  fileprivate struct Line {
    var inside = 0
    /// In order of arrival.
    var waiting: [(id: UInt64, continuation: CheckedContinuation<Void, any Error>)] = []
  }

  fileprivate struct State {
    var free: Int
    var next: UInt64 = 0
    var lines: [PeerID: Line] = [:]
    /// The clients that have someone waiting: the one whose turn is next first.
    var turns: [PeerID] = []
  }

  private let placesPerClient: Int
  private let waitingPerClient: Int
  private let state: Mutex<State>

  /// - Parameters:
  ///   - places: maximum concurrent holders.
  ///   - placesPerClient: maximum concurrent holders of one client.
  ///   - waitingPerClient: maximum queued tasks of one client.
  init(places: Int, placesPerClient: Int, waitingPerClient: Int) {
    state = Mutex(State(free: max(1, places)))
    self.placesPerClient = max(1, placesPerClient)
    self.waitingPerClient = waitingPerClient
  }

  /// Suspends until there is a permit.
  ///
  /// - Throws: `CancellationError` if the task is cancelled meanwhile, and ``ServerFailure`` 429 where the client's
  ///   queue is full.
  func enter(_ client: PeerID) async throws -> Place {
    try await wait(client, isLimited: true)
    return Place(self, client)
  }

  /// Queued tasks of all clients.
  var queueLength: Int { state.withLock { $0.lines.values.reduce(0) { $0 + $1.waiting.count } } }

  fileprivate func wait(_ client: PeerID, isLimited: Bool) async throws {
    let id = state.withLock { state in
      state.next += 1
      return state.next
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let answer: Result<Void, any Error>? = state.withLock { state in
          // Under the lock: a cancellation is seen either here or by the handler below.
          if Task.isCancelled { return .failure(CancellationError()) }
          var line = state.lines[client] ?? Line()
          defer { state.lines[client] = line }
          guard state.free == 0 || line.inside >= placesPerClient else {
            state.free -= 1
            line.inside += 1
            return .success(())
          }
          guard !isLimited || line.waiting.count < waitingPerClient else {
            return .failure(ServerFailure.tooManyOfClient)
          }
          if line.waiting.isEmpty { state.turns.append(client) }
          line.waiting.append((id, continuation))
          return nil
        }
        if let answer { continuation.resume(with: answer) }
      }
    } onCancel: {
      let waiting = state.withLock { state -> CheckedContinuation<Void, any Error>? in
        guard var line = state.lines[client], let index = line.waiting.firstIndex(where: { $0.id == id }) else {
          return nil
        }
        let waiting = line.waiting.remove(at: index)
        state.set(line, of: client)
        return waiting.continuation
      }
      waiting?.resume(throwing: CancellationError())
    }
  }

  fileprivate func leave(_ client: PeerID) {
    let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
      state.free += 1
      if var line = state.lines[client] {
        line.inside -= 1
        state.set(line, of: client)
      }
      // One place has become free, so that one at most may enter: of all who might, the one whose turn it is.
      guard
        let index = state.turns.firstIndex(where: { state.lines[$0].map { $0.inside < placesPerClient } ?? false })
      else { return nil }
      let entering = state.turns.remove(at: index)
      guard var line = state.lines[entering], !line.waiting.isEmpty else { return nil }
      let waiting = line.waiting.removeFirst()
      line.inside += 1
      state.free -= 1
      state.lines[entering] = line
      if !line.waiting.isEmpty { state.turns.append(entering) }
      return waiting.continuation
    }
    next?.resume()
  }
}

extension WorkGate.State {
  /// Forgets whoever is neither inside nor waiting.
  fileprivate mutating func set(_ line: WorkGate.Line, of client: PeerID) {
    if line.waiting.isEmpty { turns.removeAll { $0 == client } }
    lines[client] = line.inside == 0 && line.waiting.isEmpty ? nil : line
  }
}

extension WorkGate {
  /// A permit, given back when the last reference to it goes.
  final class Place: Sendable {
    private let gate: WorkGate
    private let client: PeerID
    private let isHeld = Mutex(true)

    fileprivate init(_ gate: WorkGate, _ client: PeerID) {
      self.gate = gate
      self.client = client
    }

    /// Gives the permit back to the next task in turn.
    func leave() {
      let wasHeld = isHeld.withLock { isHeld in
        defer { isHeld = false }
        return isHeld
      }
      if wasHeld { gate.leave(client) }
    }

    /// Goes to the end of the client's queue, however many wait there. Only after ``leave()``.
    func enterAgain() async throws {
      try await gate.wait(client, isLimited: false)
      isHeld.withLock { $0 = true }
    }

    deinit { leave() }
  }
}
