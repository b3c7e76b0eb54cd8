import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import HealthOperations

/// Tests of resynchronization requests while another operation runs for the destination.
@Suite("Delivering again", .timeLimit(.minutes(5)))
struct RedeliveryRequestsTests {
  private let home: TestHome
  private let consumer = "command:one"

  init() throws { home = try TestHome() }

  private var positions: [String: Anchor] {
    get async throws { try await home.store.deliveries.standings().positions }
  }

  @Test(
    "what is asked while the same is being dealt with is not lost with that", arguments: [nil, Timestamp(seconds: 5)])
  func again(start: Timestamp?) async throws {
    try await RedeliveryRequests.request(consumer, from: start, in: home.store)
    let done = try await RedeliveryRequests.pending(consumer, in: home.store)
    let forgotten = try await RedeliveryRequests.toForget(consumer, in: home.store)
    #expect(forgotten.count == 1)
    try await RedeliveryRequests.request(consumer, from: start, in: home.store)
    for part in done + forgotten { try await home.store.removeConsumer(part.consumer) }
    #expect(
      try await RedeliveryRequests.pending(consumer, in: home.store).map(\.filter.earliest)
        == (start.map { [$0] } ?? [])
    )
    #expect(try await RedeliveryRequests.toForget(consumer, in: home.store).map(\.filter.earliest) == [start])
  }

  @Test("a request is noticed that came right after one was dealt with", arguments: [nil, Timestamp(seconds: 5)])
  func noticed(start: Timestamp?) async throws {
    let watch = PositionWatch()
    try await home.store.consumer(consumer)
    let first = watch.revision(of: try await positions)
    try await RedeliveryRequests.request(consumer, from: start, in: home.store)
    let second = watch.revision(of: try await positions)
    #expect(second > first)
    #expect(watch.revision(of: try await positions) == second)
    // Dealt with and asked again before anything is looked at.
    for name in try await positions.keys where RedeliveryRequests.isRequest(name) {
      try await home.store.removeConsumer(name)
    }
    try await RedeliveryRequests.request(consumer, from: start, in: home.store)
    #expect(watch.revision(of: try await positions) > second)
  }

  @Test(
    "what an attempt asked for that was cut off is not asked for again, unless some of it was delivered",
    arguments: [false, true])
  func ensured(isCommitted: Bool) async throws {
    func ensure(_ filter: SampleFilter) async throws -> [String] {
      try await RedeliveryRequests.ensureDeliveredAgain(filter, to: consumer, in: home.store)
      return try await RedeliveryRequests.pending(consumer, in: home.store).map(\.consumer)
    }
    let first = try await ensure(.everything)
    #expect(first.count == 1)
    #expect(try await ensure(.everything) == first)
    #expect(try await ensure(SampleFilter(earliest: Timestamp(seconds: 5))) == first)
    // A page that is handed out may have been delivered.
    try await home.fill(3)
    let request = try await home.store.consumer(first[0])
    let page = try #require(try await request.pages(ofAtMost: 1, repeatable: true).first { _ in true })
    if isCommitted { try await request.commit(page) }
    let second = try await ensure(.everything)
    #expect(second.count == 1 && second != first)
    // One that was cut off before the other was removed.
    try await home.store.consumer(first[0])
    #expect(try await ensure(.everything).count == 1)
    // One that asks for less does for nobody.
    for name in try await ensure(.everything) { try await home.store.removeConsumer(name) }
    let part = try await ensure(SampleFilter(earliest: Timestamp(seconds: 5)))
    let all = try await ensure(.everything)
    #expect(all.count == 1 && all != part)
  }

  @Test("one that asks for more takes the place of those before; one that asks for less does not")
  func contained() async throws {
    func starts() async throws -> Set<Int64?> {
      Set(try await RedeliveryRequests.pending(consumer, in: home.store).map { $0.filter.earliest?.seconds })
    }
    try await RedeliveryRequests.request(consumer, from: Timestamp(seconds: 50), in: home.store)
    try await RedeliveryRequests.request(consumer, from: Timestamp(seconds: 40), in: home.store)
    #expect(try await starts() == [40])
    try await RedeliveryRequests.request(consumer, from: Timestamp(seconds: 60), in: home.store)
    #expect(try await starts() == [40, 60])
    try await RedeliveryRequests.request(consumer, from: nil, in: home.store)
    #expect(try await starts() == [])
    #expect(try await RedeliveryRequests.toForget(consumer, in: home.store).count == 1)
    // Of another whose name begins as this one's, nothing is taken.
    try await RedeliveryRequests.request("command:one-two", from: nil, in: home.store)
    try await RedeliveryRequests.forget(consumer, in: home.store)
    #expect(try await positions.keys.allSatisfy { $0.hasPrefix("command:one-two") })
    #expect(try await positions.count == 2)
    #expect(!RedeliveryRequests.isRequest("command:again"))
  }
}
