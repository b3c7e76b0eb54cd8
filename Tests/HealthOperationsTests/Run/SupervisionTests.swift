import HealthStore
import OperatingSystem
import Synchronization
import TestSupport
import Testing

@testable import HealthOperations

/// When work begins anew.
@Suite(.timeLimit(.minutes(5)))
struct SupervisionTests {
  private let home: TestHome
  private let reloads = Reloads()

  init() throws { home = try TestHome() }

  /// What the work was begun with, one after the other, while `body` runs.
  private func begun<State: Equatable & Sendable>(
    _ supervision: Supervision<State>, _ body: (inout AsyncStream<State?>.AsyncIterator) async throws -> Void
  ) async throws {
    let (states, state) = AsyncStream.makeStream(of: State?.self)
    var iterator = states.makeAsyncIterator()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        await supervision.run { known in
          state.yield(known)
          try? await Task.sleep(for: .seconds(Int32.max))
        }
      }
      defer { group.cancelAll() }
      try await body(&iterator)
    }
  }

  private func paused(_ store: HealthStore) -> @Sendable () async -> Set<String>? {
    { try? await store.deliveries.standings().paused }
  }

  @Test("what another process writes is noticed without looking again and again")
  func written() async throws {
    let supervision = Supervision(
      database: home.store.path, reloads: reloads, clock: ImpatientClock(), state: paused(home.store))
    let other = try home.home.openStore()
    try await begun(supervision) { states in
      #expect(await states.next() == .some([]))
      // A disk that is slow may have all looks after the first come too early.
      let writing = Task {
        for number in 1... {
          try await other.deliveries.setPaused(true, "folder:\(number)")
          try await Task.sleep(for: .seconds(1))
        }
      }
      defer { writing.cancel() }
      #expect(await states.next()??.contains("folder:1") == true)
    }
  }

  @Test("where nothing tells of writes, it is looked again and again")
  func unreported() async throws {
    let value = Mutex(1)
    let supervision = Supervision(
      database: home.directory.path("nowhere/store.sqlite"), reloads: reloads, clock: ImpatientClock()
    ) { value.withLock(\.self) }
    try await begun(supervision) { states in
      #expect(await states.next() == .some(1))
      value.withLock { $0 = 2 }
      #expect(await states.next() == .some(2))
    }
  }

  @Test("a request to read the settings again begins it anew, also of work that has ended")
  func requested() async {
    let supervision = Supervision(database: home.store.path, reloads: reloads, clock: ImpatientClock()) { [reloads] in
      reloads.current
    }
    let (states, state) = AsyncStream.makeStream(of: Int?.self)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await supervision.run { state.yield($0) } }
      defer { group.cancelAll() }
      var iterator = states.makeAsyncIterator()
      for count in 0..<3 {
        #expect(await iterator.next() == .some(count))
        reloads.request()
      }
    }
  }

  @Test("a state that cannot be told is no change")
  func untold() async throws {
    let answers = Mutex<[Int?]>([1, nil, nil, 1, 2])
    let supervision = Supervision(
      database: home.directory.path("nowhere/store.sqlite"), reloads: reloads, clock: ImpatientClock()
    ) { answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }
    try await begun(supervision) { states in
      #expect(await states.next() == .some(1))
      #expect(await states.next() == .some(2))
    }
  }
}

/// A clock on which a pause of some seconds is over at once, and a longer one, as between looks without a hint, never.
private struct ImpatientClock: Clock {
  private let clock = ContinuousClock()

  var now: ContinuousClock.Instant { clock.now }
  var minimumResolution: Duration { clock.minimumResolution }

  func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
    let pause = clock.now.duration(to: deadline)
    try await clock.sleep(for: pause > .seconds(5) ? .seconds(Int32.max) : .milliseconds(20))
  }
}
