import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests with random histories in which a store's file is restored from copies, while readers follow it from
/// positions of any age.
@Suite struct RestoreTests {
  @Test(.timeLimit(.minutes(5)), arguments: 0..<6)
  func readersNeverMissAnything(block: Int) async throws {
    for run in 0..<8 {
      let seed = UInt64(block * 8 + run)
      #expect(try await differences(seed: seed, withEpochs: true) == 0, "seed \(seed)")
    }
  }

  /// Checks that the histories would fail without epochs.
  @Test(.timeLimit(.minutes(5)))
  func withoutEpochsTheyWould() async throws {
    var total = 0
    for seed in 0..<8 as Range<UInt64> { total += try await differences(seed: seed, withEpochs: false) }
    #expect(total > 0)
  }

  /// Returns how often a reader at the end of the feed didn't have the store's content.
  private func differences(seed: UInt64, withEpochs: Bool) async throws -> Int {
    var random = SeededGenerator(seed: seed)
    let world = SmallWorld(size: 24)
    let file = try StoreFile()
    var open = [try file.open()]
    var copies: [Data] = []
    var readers = Array(repeating: Reader(), count: 3)
    var differences = 0
    for _ in 0..<60 {
      switch Int.random(in: 0..<12, using: &random) {
      case 0:
        open = []
        copies.append(try await file.copy())
        open = [try file.open()]
      case 1 where !copies.isEmpty:
        open = []
        try await file.restore(random.pick(copies))
        open = [try file.open()]
      case 2:
        // Another process comes, and perhaps another goes.
        open.append(try file.open())
        if open.count > 3 { open.removeFirst() }
      case 3...6:
        let index = Int.random(in: 0..<readers.count, using: &random)
        try await readers[index].follow(
          random.pick(open), pageSize: Int.random(in: 1...9, using: &random), withEpochs: withEpochs)
        if readers[index].differs { differences += 1 }
      default:
        try await random.pick(open).apply(world.batch(&random, upTo: 4))
      }
    }
    return differences
  }
}

/// A reader that follows a feed and knows from full readings what it should have.
private struct Reader {
  private struct Replica: Equatable {
    var live: Set<SampleReference> = []
    var dead: Set<SampleReference> = []

    mutating func apply(_ changes: [Change]) {
      for change in changes {
        switch change {
        case .added(let sample): live.insert(sample.reference)
        case .deleted(let tombstone): dead.insert(tombstone.sample)
        }
      }
      live.subtract(dead)
    }
  }

  private var position = Position()
  private var replica = Replica()
  private var expected = Replica()

  var differs: Bool { replica != expected }

  mutating func follow(_ store: HealthStore, pageSize: Int, withEpochs: Bool) async throws {
    while true {
      do {
        let page = try await store.feed.changes(
          since: position.anchor, epoch: withEpochs ? position.epoch : nil, limit: pageSize)
        replica.apply(page.changes)
        position = Position(anchor: page.anchor, epoch: page.epoch)
        if page.isLast { break }
      } catch StoreError.anchorOutOfRange {
        position = Position()
      }
    }
    expected.apply(try await store.allChanges())
  }
}
