import NIOConcurrencyHelpers
import PeerProtocol
import Testing

@testable import PeerServer

@Suite("Taking turns", .timeLimit(.minutes(1)))
struct WorkGateTests {
  private let client: PeerID
  private let other: PeerID

  init() throws {
    client = try makePeerID()
    other = try makePeerID()
  }

  private static func gate(places: Int, placesPerClient: Int? = nil) -> WorkGate {
    WorkGate(places: places, placesPerClient: placesPerClient ?? places, waitingPerClient: 30)
  }

  /// Starts one task for each client, each in the queue before the next, and lets them in by giving `first` back.
  ///
  /// - Returns: the indices of the clients in the order in which they were let in.
  private func order(of clients: [PeerID], into gate: WorkGate, after first: WorkGate.Place) async throws -> [Int] {
    let order = NIOLockedValueBox<[Int]>([])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, client) in clients.enumerated() {
        group.addTask {
          let place = try await gate.enter(client)
          order.withLockedValue { $0.append(index) }
          place.leave()
        }
        _ = try await eventually { gate.queueLength == index + 1 ? true : nil }
      }
      let entered = order.withLockedValue { $0 }
      #expect(entered.isEmpty)
      first.leave()
      try await group.waitForAll()
    }
    #expect(gate.queueLength == 0)
    return order.withLockedValue { $0 }
  }

  @Test("no more inside than places, everybody gets in, and in order")
  func order() async throws {
    let gate = Self.gate(places: 1)
    let first = try await gate.enter(client)
    let order = try await order(of: Array(repeating: client, count: 20), into: gate, after: first)
    #expect(order == Array(0..<20))
  }

  @Test("a client with one request does not wait behind another's twenty")
  func turns() async throws {
    let gate = Self.gate(places: 1)
    let first = try await gate.enter(client)
    let order = try await order(of: Array(repeating: client, count: 20) + [other], into: gate, after: first)
    #expect(order == [0, 20] + Array(1..<20))
  }

  @Test("no more of one client inside than it may have, and the place that is left is another's")
  func placesOfOneClient() async throws {
    let gate = Self.gate(places: 2, placesPerClient: 1)
    let first = try await gate.enter(client)
    let second = Task { try await gate.enter(client) }
    _ = try await eventually { gate.queueLength == 1 ? true : nil }
    let theirs = try await gate.enter(other)
    theirs.leave()
    #expect(gate.queueLength == 1)
    first.leave()
    _ = try await second.value
  }

  @Test("as many of a client's wait as may, and the next is told so")
  func fullQueue() async throws {
    let gate = WorkGate(places: 1, placesPerClient: 1, waitingPerClient: 1)
    let first = try await gate.enter(client)
    let second = Task { try await gate.enter(client) }
    _ = try await eventually { gate.queueLength == 1 ? true : nil }
    let refusal = await #expect(throws: ServerFailure.self) { try await gate.enter(client) }
    #expect(refusal?.status == .tooManyRequests)
    let theirs = Task { try await gate.enter(other) }
    first.leave()
    try await second.value.leave()
    try await theirs.value.leave()
  }

  @Test("a place that is dropped or left twice is given back once")
  func dropped() async throws {
    let gate = Self.gate(places: 2)
    do {
      let place = try await gate.enter(client)
      place.leave()
      place.leave()
      try await place.enterAgain()
    }
    let one = try await gate.enter(client)
    let two = try await gate.enter(client)
    let third = Task { try await gate.enter(client) }
    _ = try await eventually { gate.queueLength == 1 ? true : nil }
    one.leave()
    _ = try await third.value
    two.leave()
  }

  @Test("whoever is cancelled leaves the queue")
  func cancelled() async throws {
    let gate = Self.gate(places: 1)
    let place = try await gate.enter(client)
    let waiting = Task { try await gate.enter(client) }
    _ = try await eventually { gate.queueLength == 1 ? true : nil }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(gate.queueLength == 0)
    place.leave()
    _ = try await gate.enter(client)
  }
}
