import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests of a store that two processes share, represented by two instances for the same directory.
@Suite struct SharingTests {
  let fixture: StoreFixture
  let other: HealthStore
  var store: HealthStore { fixture.store }

  init() throws {
    fixture = try StoreFixture()
    other = try fixture.again()
  }

  @Test func eachSeesWhatTheOtherHasWritten() async throws {
    var maker = SampleMaker(seed: 1)
    for minute in 0..<10 {
      let sample = maker.steps(at: minute)
      let (writer, reader) = minute % 2 == 0 ? (store, other) : (other, store)
      let anchor = try await reader.feed.currentAnchor()
      try await writer.add(sample)
      #expect(try await reader.allChanges(since: anchor) == [.added(sample)])
    }
    #expect(try await store.feed.currentAnchor() == Anchor(change: 10))
  }

  @Test func fourWritersOfTheSameSamplesLoseNothingAndDoubleNothing() async throws {
    var maker = SampleMaker(seed: 1)
    let samples = (0..<300).map { maker.steps(at: $0) }
    let summaries = try await withThrowingTaskGroup(of: WriteSummary.self) { group in
      for worker in 0..<4 {
        group.addTask {
          var random = SeededGenerator(seed: UInt64(worker))
          let mine = samples.shuffled(using: &random)
          var total = WriteSummary()
          for start in stride(from: 0, to: mine.count, by: 15) {
            let batch = ChangeBatch(additions: Array(mine[start..<start + 15]))
            total += try await (worker % 2 == 0 ? store : other).apply(batch)
          }
          return total
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let all = summaries.reduce(into: WriteSummary()) { $0 += $1 }
    #expect(all.added == 300 && all.unchanged == 900)
    let changes = try await store.allChanges()
    #expect(changes.count == 300)
    #expect(Set(changes) == Set(samples.map(Change.added)))
    #expect(try await store.feed.currentAnchor() == Anchor(change: 300))
    #expect(try await other.samples.typeCounts() == [TypeCount(type: SampleMaker.stepCount, samples: 300)])
  }

  @Test func additionsAndDeletionsAtOnceAgreeInTheEnd() async throws {
    var maker = SampleMaker(seed: 1)
    let samples = (0..<200).map { maker.steps(at: $0) }
    try await withThrowingTaskGroup { group in
      group.addTask { for sample in samples { try await store.add(sample) } }
      group.addTask {
        for sample in samples where sample.start.seconds / 60 % 2 == 0 { try await other.delete(sample) }
      }
      try await group.waitForAll()
    }
    let expected = samples.filter { $0.start.seconds / 60 % 2 != 0 }
    #expect(try await Set(store.samples.page(of: SampleMaker.stepCount, limit: 1000)) == Set(expected))
    #expect(try await store.samples.typeCounts() == [TypeCount(type: SampleMaker.stepCount, samples: expected.count)])
    #expect(try await store.contents().deleted.count == samples.count - expected.count)
  }

  @Test func aReaderIsNotHeldUpByAWriter() async throws {
    var maker = SampleMaker(seed: 1)
    let samples = (0..<2000).map { maker.steps(at: $0) }
    try await withThrowingTaskGroup { group in
      group.addTask {
        for start in stride(from: 0, to: samples.count, by: 200) {
          try await store.apply(ChangeBatch(additions: Array(samples[start..<start + 200])))
        }
      }
      // A page is one state of the store: whole batches, never a part of one.
      group.addTask {
        var count = 0
        while count < samples.count {
          count = try await other.feed.changes(since: .zero, limit: 10_000).changes.count
          #expect(count % 200 == 0)
        }
      }
      try await group.waitForAll()
    }
  }

  /// POSIX releases all of a process's locks on a file when any of its descriptors is closed.
  @Test(.enabled(if: SQLiteShell.isAvailable))
  func openingAStoreAgainKeepsTheLocksThatAreHeld() async throws {
    var maker = SampleMaker(seed: 1)
    try await store.add(maker.steps(at: 0))
    _ = try fixture.again()
    let mode = try? await SQLiteShell.run("PRAGMA journal_mode = DELETE", on: store.path)
    #expect(mode == nil || mode == "wal", "another process took a store in use out of WAL mode")
    #expect(try await SQLiteShell.run("PRAGMA journal_mode", on: store.path) == "wal")
  }
}
