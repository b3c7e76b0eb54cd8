import HealthStore
import Synchronization
import TestSupport
import Testing

@testable import HealthOperations

/// Tests of when supervised work is restarted.
@Suite(.timeLimit(.minutes(5)))
struct SupervisionTests {
  private let home: TestHome
  private let reloads = Reloads()
  /// A clock on which pauses of up to five seconds end at once, and longer pauses, such as those between checks
  /// without a hint, never end.
  private let clock = ImmediateClock { $0 <= .seconds(5) }

  init() throws { home = try TestHome() }

  /// Runs `body` with an iterator over the states with which work was started.
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

  /// A counter of state queries: once before the first work, then twice soon after each start of work without any
  /// hint, and then after each hint.
  private final class Looks: Sendable {
    private let count = Atomic(0)

    func note() { count.add(1, ordering: .sequentiallyConsistent) }

    /// Waits until a number of works have been started and checked, so that only a hint leads to another check.
    func rest(of works: Int) async throws {
      while count.load(ordering: .sequentiallyConsistent) < 3 * works { try await Task.sleep(for: .milliseconds(5)) }
    }
  }

  @Test("what another process writes is noticed without looking again and again")
  func written() async throws {
    let looks = Looks()
    let supervision = Supervision(
      database: home.store.path, reloads: reloads, clock: clock
    ) { [store = home.store] in
      looks.note()
      return try? await store.deliveries.standings().paused
    }
    let other = try home.home.openStore()
    try await begun(supervision) { states in
      #expect(await states.next() == .some([]))
      try await looks.rest(of: 1)
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
      database: home.directory.path("nowhere/store.sqlite"), reloads: reloads, clock: clock
    ) { value.withLock(\.self) }
    try await begun(supervision) { states in
      #expect(await states.next() == .some(1))
      value.withLock { $0 = 2 }
      #expect(await states.next() == .some(2))
    }
  }

  @Test("a request to read the settings again begins it anew, also of work that has ended")
  func requested() async throws {
    let looks = Looks()
    let supervision = Supervision(database: home.store.path, reloads: reloads, clock: clock) { [reloads] in
      looks.note()
      return reloads.current
    }
    let (states, state) = AsyncStream.makeStream(of: Int?.self)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await supervision.run { state.yield($0) } }
      defer { group.cancelAll() }
      var iterator = states.makeAsyncIterator()
      for count in 0..<3 {
        #expect(await iterator.next() == .some(count))
        try await looks.rest(of: count + 1)
        reloads.request()
      }
    }
  }

  @Test("work that changes what it depends on, or is asked to begin anew all the time, is left two seconds to work")
  func changesItself() async throws {
    let clock = ManualClock()
    let supervision = Supervision(database: home.store.path, reloads: reloads, clock: clock) { [reloads] in
      reloads.current
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [reloads] in
        await supervision.run { _ in
          reloads.request()
          try? await clock.sleep(for: .seconds(Int32.max))
        }
      }
      defer { group.cancelAll() }
      // The work, the look, and the time without hints.
      func allSleep() async throws { while clock.sleepers < 3 { try await Task.sleep(for: .milliseconds(1)) } }
      try await allSleep()
      for count in 1...4 {
        let begun = clock.now
        while reloads.current == count {
          clock.advance(by: .milliseconds(50))
          try await allSleep()
        }
        // What changes while it is begun the first time is noticed at once.
        #expect((begun.duration(to: clock.now) >= .seconds(2)) == (count > 1))
      }
    }
  }

  @Test("a state that cannot be told is no change")
  func untold() async throws {
    let answers = Mutex<[Int?]>([1, nil, nil, 1, 2])
    let supervision = Supervision(
      database: home.directory.path("nowhere/store.sqlite"), reloads: reloads, clock: clock
    ) { answers.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] } }
    try await begun(supervision) { states in
      #expect(await states.next() == .some(1))
      #expect(await states.next() == .some(2))
    }
  }
}
