import NIOConcurrencyHelpers
import PeerProtocol
import Testing

@testable import PeerServer

@Suite("Fair semaphore", .timeLimit(.minutes(5)))
struct FairSemaphoreTests {
  private let client: PeerID
  private let other: PeerID

  init() throws {
    client = try makePeerID()
    other = try makePeerID()
  }

  private static func semaphore(permits: Int, permitsPerClient: Int? = nil) -> FairSemaphore {
    FairSemaphore(permits: permits, permitsPerClient: permitsPerClient ?? permits, queuePerClient: 30)
  }

  /// Starts a task for each client, in this order in the queue, and admits them by releasing `first`.
  ///
  /// - Returns: The indexes of the clients in the order in which they were admitted.
  private func order(of clients: [PeerID], into semaphore: FairSemaphore, after first: FairSemaphore.Permit)
    async throws -> [Int]
  {
    let order = NIOLockedValueBox<[Int]>([])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, client) in clients.enumerated() {
        group.addTask {
          let permit = try await semaphore.acquire(client)
          order.withLockedValue { $0.append(index) }
          permit.release()
        }
        _ = try await eventually { semaphore.queueLength == index + 1 ? true : nil }
      }
      let entered = order.withLockedValue { $0 }
      #expect(entered.isEmpty)
      first.release()
      try await group.waitForAll()
    }
    #expect(semaphore.queueLength == 0)
    return order.withLockedValue { $0 }
  }

  @Test("no more hold one than there are permits, everybody gets one, and in order")
  func order() async throws {
    let semaphore = Self.semaphore(permits: 1)
    let first = try await semaphore.acquire(client)
    let order = try await order(of: Array(repeating: client, count: 20), into: semaphore, after: first)
    #expect(order == Array(0..<20))
  }

  @Test("a client with one request does not wait behind another's twenty")
  func turns() async throws {
    let semaphore = Self.semaphore(permits: 1)
    let first = try await semaphore.acquire(client)
    let order = try await order(of: Array(repeating: client, count: 20) + [other], into: semaphore, after: first)
    #expect(order == [0, 20] + Array(1..<20))
  }

  @Test("no more of one client inside than it may have, and the permit that is left is another's")
  func permitsOfOneClient() async throws {
    let semaphore = Self.semaphore(permits: 2, permitsPerClient: 1)
    let first = try await semaphore.acquire(client)
    let second = Task { try await semaphore.acquire(client) }
    _ = try await eventually { semaphore.queueLength == 1 ? true : nil }
    let theirs = try await semaphore.acquire(other)
    theirs.release()
    #expect(semaphore.queueLength == 1)
    first.release()
    _ = try await second.value
  }

  @Test("what a client has for its own no other can hold, and its further requests wait for their turn")
  func ownPermits() async throws {
    let semaphore = FairSemaphore(permits: 1, permitsPerClient: 3, ownPermits: 1, queuePerClient: 30)
    let (first, shared) = (try await semaphore.acquire(client), try await semaphore.acquire(client))
    let third = Task { try await semaphore.acquire(client) }
    _ = try await eventually { semaphore.queueLength == 1 ? true : nil }
    let theirs = try await semaphore.acquire(other)
    let second = Task { try await semaphore.acquire(other) }
    _ = try await eventually { semaphore.queueLength == 2 ? true : nil }
    // The other's own goes to the other's next, not to the client that has waited longer.
    theirs.release()
    let again = try await second.value
    #expect(semaphore.queueLength == 1)
    // What both may have goes to whose turn it is.
    first.release()
    let last = try await third.value
    for permit in [again, shared, last] { permit.release() }
    #expect(semaphore.queueLength == 0)
  }

  @Test("as many of a client's wait as may, and the next is told so")
  func fullQueue() async throws {
    let semaphore = FairSemaphore(permits: 1, permitsPerClient: 1, queuePerClient: 1)
    let first = try await semaphore.acquire(client)
    let second = Task { try await semaphore.acquire(client) }
    _ = try await eventually { semaphore.queueLength == 1 ? true : nil }
    let refusal = await #expect(throws: ServerFailure.self) { try await semaphore.acquire(client) }
    #expect(refusal?.status == .tooManyRequests)
    let theirs = Task { try await semaphore.acquire(other) }
    first.release()
    try await second.value.release()
    try await theirs.value.release()
  }

  @Test("a permit that is dropped or left twice is given back once")
  func dropped() async throws {
    let semaphore = Self.semaphore(permits: 2)
    do {
      let permit = try await semaphore.acquire(client)
      permit.release()
      permit.release()
      try await permit.reacquire()
    }
    let one = try await semaphore.acquire(client)
    let two = try await semaphore.acquire(client)
    let third = Task { try await semaphore.acquire(client) }
    _ = try await eventually { semaphore.queueLength == 1 ? true : nil }
    one.release()
    _ = try await third.value
    two.release()
  }

  @Test("whoever is cancelled leaves the queue")
  func cancelled() async throws {
    let semaphore = Self.semaphore(permits: 1)
    let permit = try await semaphore.acquire(client)
    let waiting = Task { try await semaphore.acquire(client) }
    _ = try await eventually { semaphore.queueLength == 1 ? true : nil }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(semaphore.queueLength == 0)
    permit.release()
    _ = try await semaphore.acquire(client)
  }
}
