import HealthModel
import HealthStore
import Testing
import TestSupport

/// Tests that stores that exchange changes in random order end up with the same samples and tombstones.
@Suite struct ConvergenceTests {
  /// Each block has twenty-five random histories. A failure names its seed.
  @Test(.timeLimit(.minutes(5)), arguments: 0..<8)
  func storesConverge(block: Int) async throws {
    for run in 0..<25 {
      try await converge(seed: UInt64(block * 25 + run))
    }
  }

  private func converge(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let world = SmallWorld(size: 16)
    var peers: [Peer] = []
    for _ in 0..<Int.random(in: 2...4, using: &random) { peers.append(Peer(fixture: try StoreFixture())) }
    for _ in 0..<Int.random(in: 5...25, using: &random) {
      let index = Int.random(in: 0..<peers.count, using: &random)
      if random.oneIn(2) {
        try await peers[index].fixture.store.apply(world.batch(&random, upTo: 4))
      } else {
        let other = Int.random(in: 0..<peers.count, using: &random)
        guard other != index else { continue }
        try await peers[index].pull(
          from: peers[other], named: other, pageSize: Int.random(in: 1...5, using: &random),
          pages: Int.random(in: 1...3, using: &random))
      }
    }
    // A chain of stores passes a change on by one link in each round.
    var rounds = 0
    while rounds <= peers.count, try await exchangeEverything(&peers, &random) { rounds += 1 }
    #expect(rounds <= peers.count, "seed \(seed)")
    let first = try await peers[0].fixture.store.contents()
    #expect(first.samples.count + first.deleted.count <= 16, "seed \(seed)")
    for peer in peers.dropFirst() {
      #expect(try await peer.fixture.store.contents() == first, "seed \(seed)")
      #expect(
        try await peer.fixture.store.samples.typeCounts() == peers[0].fixture.store.samples.typeCounts(), "seed \(seed)"
      )
    }
  }
}

extension ConvergenceTests {
  /// Makes each store pull everything from every other. Returns whether there was anything new.
  private func exchangeEverything(_ peers: inout [Peer], _ random: inout SeededGenerator) async throws -> Bool {
    var moved = false
    for index in peers.indices {
      for other in peers.indices where other != index {
        let pageSize = Int.random(in: 1...20, using: &random)
        if try await peers[index].pull(from: peers[other], named: other, pageSize: pageSize, pages: .max) {
          moved = true
        }
      }
    }
    return moved
  }
}

/// A store and its positions in the others' feeds.
private struct Peer {
  let fixture: StoreFixture
  private var anchors: [Int: Anchor] = [:]

  init(fixture: StoreFixture) {
    self.fixture = fixture
  }

  /// Pulls a number of pages. Returns whether there was anything to pull.
  @discardableResult
  mutating func pull(from other: Peer, named name: Int, pageSize: Int, pages: Int) async throws -> Bool {
    var moved = false
    for _ in 0..<pages {
      let page = try await other.fixture.store.feed.changes(since: anchors[name] ?? .zero, limit: pageSize)
      var batch = ChangeBatch()
      for change in page.changes {
        switch change {
        case .added(let sample): batch.additions.append(sample)
        case .deleted(let tombstone): batch.deletions.append(tombstone)
        }
      }
      if !batch.isEmpty {
        try await fixture.store.apply(batch)
        moved = true
      }
      anchors[name] = page.anchor
      if page.isLast { break }
    }
    return moved
  }
}
