import NIOConcurrencyHelpers
import Testing

@testable import PeerServer

@Suite("Taking turns", .timeLimit(.minutes(1)))
struct WorkGateTests {
  @Test("no more inside than places, everybody gets in, and in order")
  func order() async throws {
    let gate = WorkGate(places: 1)
    let first = try await gate.enter()
    let order = NIOLockedValueBox<[Int]>([])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<20 {
        group.addTask {
          let place = try await gate.enter()
          order.withLockedValue { $0.append(number) }
          place.leave()
        }
        _ = try await eventually { gate.queueLength == number + 1 ? true : nil }
      }
      let entered = order.withLockedValue { $0 }
      #expect(entered.isEmpty)
      first.leave()
      try await group.waitForAll()
    }
    let entered = order.withLockedValue { $0 }
    #expect(entered == Array(0..<20))
    #expect(gate.queueLength == 0)
  }

  @Test("a place that is dropped or left twice is given back once")
  func dropped() async throws {
    let gate = WorkGate(places: 2)
    do {
      let place = try await gate.enter()
      place.leave()
      place.leave()
      try await place.enterAgain()
    }
    let one = try await gate.enter()
    let two = try await gate.enter()
    let third = Task { try await gate.enter() }
    _ = try await eventually { gate.queueLength == 1 ? true : nil }
    one.leave()
    _ = try await third.value
    two.leave()
  }

  @Test("whoever is cancelled leaves the queue")
  func cancelled() async throws {
    let gate = WorkGate(places: 1)
    let place = try await gate.enter()
    let waiting = Task { try await gate.enter() }
    _ = try await eventually { gate.queueLength == 1 ? true : nil }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(gate.queueLength == 0)
    place.leave()
    _ = try await gate.enter()
  }
}
