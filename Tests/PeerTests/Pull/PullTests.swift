import Foundation
import HealthModel
import HealthStore
import NIOConcurrencyHelpers
import NIOCore
import PeerClient
import PeerProtocol
import PeerTrust
import Testing
import TestSupport

@testable import PeerServer

extension Pull {
  /// Runs the pull without reporting progress.
  func run(full: Bool = false) async throws -> PullProgress {
    try await run(full: full) { _, _ in }
  }
}

@Suite("Pulling from a server")
struct PullTests {
  @Test("the first pull brings everything, the second asks once and adds nothing")
  func everything() async throws {
    let samples =
      Samples.everyKind
      + Samples.heartRates(2_500).map { sample in
        var sample = sample
        sample.metadata = ["HKTimeZone": "Europe/Berlin"]
        return sample
      }
    try await withServer(ServerOptions(samples: samples)) { server in
      try await withStore { store in
        let record = try await server.record().server
        let pull = Pull(into: store, from: record, at: server.endpoint)
        let first = try await pull.run()
        #expect(first.added == samples.count)
        #expect(first.requests == 1)
        #expect(first.bytes > 16 * samples.count)
        #expect(try await store.content() == server.store.content())
        let second = try await pull.run()
        #expect(second.changes == 0)
        #expect(second.requests == 1)
        #expect(try await store.content() == server.store.content())
      }
    }
  }

  @Test("what came by several roads arrives whole and is shown once")
  func roads() async throws {
    let original = Samples.quantity(at: Samples.noon)
    let exported = Samples.asExported(original)
    try await withServer(ServerOptions(samples: [original, exported])) { server in
      try await withStore { store in
        _ = try await Pull(into: store, from: try await server.record().server, at: server.endpoint).run()
        for one in [store, server.store] {
          #expect(try await one.samples.page(of: original.type, limit: 10) == [exported])
          #expect(try await one.samples.typeCounts().map(\.samples) == [1])
        }
        #expect(try await store.content() == server.store.content())
        #expect(try await store.digests.current().record == server.store.digests.current().record)
      }
    }
  }

  @Test("progress goes up to what the server announced")
  func progress() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(4_100))) { server in
      try await withStore { store in
        let record = try await server.record().server
        var reports: [(changes: Int, expected: Int?)] = []
        _ = try await Pull(into: store, from: record, at: server.endpoint).run { done, expected in
          reports.append((done.changes, expected))
        }
        let changes = reports.map(\.changes)
        #expect(changes.first == 2_000 && changes.last == 4_100)
        #expect(changes == changes.sorted())
        #expect(reports.allSatisfy { $0.expected == 4_100 })
      }
    }
  }

  @Test("bytes are heard of as they come, between one commit and the next too")
  func hearing() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(4_100))) { server in
      try await withStore { store in
        let record = try await server.record().server
        let heard = NIOLockedValueBox<[Int]>([])
        let done = try await Pull(into: store, from: record, at: server.endpoint) { bytes in
          heard.withLockedValue { $0.append(bytes) }
        }.run()
        let counts = heard.withLockedValue(\.self)
        #expect(counts == counts.sorted() && counts.count > 1)
        #expect(try #require(counts.last) >= done.bytes && counts.last ?? 0 <= done.bytes + 1_000)
      }
    }
  }

  @Test("later pulls bring what was added and remove what was deleted")
  func incremental() async throws {
    let samples = Samples.heartRates(50)
    try await withServer(ServerOptions(samples: samples)) { server in
      try await withStore { store in
        let record = try await server.record().server
        let pull = Pull(into: store, from: record, at: server.endpoint)
        _ = try await pull.run()
        let added = [Samples.quantity(Samples.stepCount, 9, "count"), Samples.quantity(at: Samples.noon + 5_000_000)]
        let deleted = samples.prefix(3).map { Tombstone(sample: $0.reference, deleted: Timestamp(seconds: 1)) }
        try await server.store.apply(ChangeBatch(additions: added, deletions: deleted))
        let done = try await pull.run()
        #expect(done.added == 2)
        #expect(done.deleted == 3)
        #expect(try await store.content() == server.store.content())
        #expect(try await store.total() == 49)
      }
    }
  }

  @Test("what was deleted here does not come back with a full pull")
  func tombstonesWin() async throws {
    let samples = Samples.heartRates(5)
    try await withServer(ServerOptions(samples: samples)) { server in
      try await withStore { store in
        let record = try await server.record().server
        let pull = Pull(into: store, from: record, at: server.endpoint)
        _ = try await pull.run()
        try await store.apply(
          ChangeBatch(deletions: [Tombstone(sample: samples[2].reference, deleted: Timestamp(seconds: 1))]))
        let done = try await pull.run(full: true)
        #expect(done.added == 0)
        #expect(done.unchanged == 5)
        #expect(try await store.total() == 4)
      }
    }
  }

  @Test("a pull of some types brings only those, and has a position of its own")
  func types() async throws {
    let samples = Samples.everyKind
    try await withServer(ServerOptions(samples: samples)) { server in
      try await withStore { store in
        let record = try await server.record().server
        let some = Pull(into: store, from: record, at: server.endpoint, types: [Samples.heartRate, Samples.unheardOf])
        #expect(try await some.run().added == 2)
        #expect(try await store.samples.typeCounts().map(\.type) == [Samples.heartRate, Samples.unheardOf])
        let rest = try await Pull(into: store, from: record, at: server.endpoint).run()
        #expect(rest.added == samples.count - 2)
        #expect(rest.unchanged == 2)
        #expect(try await some.run().changes == 0)
      }
    }
  }

  @Test("a scope that the server widens or narrows makes the next pull start over, and nothing comes twice")
  func scopeChange() async throws {
    try await withServer(ServerOptions(samples: Samples.everyKind)) { server in
      try await withStore { store in
        let (client, record) = try await server.record(scope: SampleFilter(types: [Samples.heartRate]))
        let pull = Pull(into: store, from: record, at: server.endpoint)
        #expect(try await pull.run().added == 1)
        try await server.registry.setScope(.everything, ofClient: client)
        let done = try await pull.run()
        // The old token is refused once, then everything is asked for.
        #expect(done.requests == 2)
        #expect(done.unchanged == 1)
        #expect(try await store.content() == server.store.content())
      }
    }
  }

  @Test("a server whose store was replaced is pulled from the start, and both end up equal to their union")
  func storeReplaced() async throws {
    let identity = try await makeIdentity()
    let old = Samples.heartRates(20)
    let new = Array(old.prefix(10)) + [Samples.quantity(Samples.stepCount, 7, "count")]
    try await withStore { store in
      try await withServer(ServerOptions(samples: old, identity: identity)) { server in
        _ = try await Pull(into: store, from: try await server.record().server, at: server.endpoint).run()
      }
      try await withServer(ServerOptions(samples: new, identity: identity)) { server in
        let record = try await server.record().server
        let done = try await Pull(into: store, from: record, at: server.endpoint).run()
        #expect(done.requests == 2)
        #expect(done.added == 1)
        #expect(done.unchanged == 10)
        #expect(try await store.total() == 21)
        #expect(try await Pull(into: store, from: record, at: server.endpoint).run().requests == 1)
      }
    }
  }

  @Test("a token that the server gave out before tokens were sealed makes the next pull start over")
  func oldToken() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(20))) { server in
      try await withStore { store in
        let record = try await server.record().server
        let pull = Pull(into: store, from: record, at: server.endpoint)
        _ = try await pull.run()
        try await store.apply(
          ChangeBatch(), position: ("pull:\(record.id.hex)", "AWsp_EDKRxBnsx0A3QEGYtoAAAAAAAAABQfnwwe0q-i0"))
        let late = Samples.quantity(Samples.stepCount, 3, "count")
        try await server.store.apply(ChangeBatch(additions: [late]))
        let done = try await pull.run()
        #expect((done.requests, done.added, done.unchanged) == (2, 1, 20))
        #expect(try await store.content() == server.store.content())
        #expect(try await pull.run().requests == 1)
      }
    }
  }

  @Test("tombstones that the server has forgotten make the next pull start over, which removes nothing")
  func forgottenTombstones() async throws {
    let samples = Samples.heartRates(60)
    var options = ServerOptions(samples: samples)
    options.changesPerToken = 10
    try await withServer(options) { server in
      try await withStore { store in
        let record = try await server.record().server
        let pull = Pull(into: store, from: record, at: server.endpoint)
        _ = try await pull.run()
        let own = Samples.quantity(Samples.stepCount, 1, "count")
        try await store.apply(ChangeBatch(additions: [own]))
        let late = Samples.quantity(Samples.stepCount, 2, "count")
        let deletions = samples.prefix(3).map { Tombstone(sample: $0.reference, deleted: Timestamp(seconds: 1)) }
        try await server.store.apply(ChangeBatch(additions: [late], deletions: Array(deletions)))
        #expect(try await server.store.feed.pruneTombstones(before: Timestamp(seconds: 2)) == 3)

        let done = try await pull.run()
        #expect((done.requests, done.added, done.deleted, done.unchanged) == (2, 1, 0, 57))
        #expect(try await store.total() == 62)
        #expect(Set(try await server.store.content()).isSubset(of: try await store.content()))
        let again = try await pull.run()
        #expect((again.requests, again.changes) == (1, 0))
      }
    }
  }

  @Test("a pull that breaks off at any byte is taken up where it stopped, and nothing comes twice")
  func resumption() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(9_000))) { server in
      try await withStore { store in
        let record = try await server.record().server
        var added = 0
        var cuts = 0
        for limit in [0, 300, 5_000, 700_000, 1_500_000, 900_000] {
          try await withRelay(to: server.port, cutAfter: limit) { relay in
            let endpoint = PeerEndpoint(host: "127.0.0.1", port: relay.port)
            do {
              added += try await Pull(into: store, from: record, at: endpoint).run { _, _ in }.added
            } catch let error as PeerError {
              cuts += 1
              switch error {
              case .connectionLost, .handshakeFailed, .feed(.cutOff): break
              default: Issue.record("\(error)")
              }
            }
          }
          let total = try await store.total()
          #expect(total.isMultiple(of: 2_000) || total == 9_000, "only whole batches are stored")
        }
        #expect(cuts >= 3)
        let before = try await store.total()
        #expect(before >= 2_000)
        let rest = try await Pull(into: store, from: record, at: server.endpoint).run()
        // What was committed was not sent again.
        #expect(rest.added == 9_000 - before)
        #expect(rest.unchanged == 0)
        #expect(try await store.content() == server.store.content())
      }
    }
  }

  @Test("a revoked token, an expired one and one of a stranger are refused")
  func refusedTokens() async throws {
    try await withServer { server in
      try await withStore { store in
        let refused = PeerError.tokenRefused(peer: TestServer.name)
        let (client, record) = try await server.record()
        try await server.registry.revoke(id: client)
        let expired = try await server.record(expiresAt: Date() - 1).server
        var stranger = try await server.record().server
        stranger.credential = BearerCredential(.random())
        for record in [record, expired, stranger] {
          await #expect(throws: refused) {
            try await Pull(into: store, from: record, at: server.endpoint).run()
          }
        }
      }
    }
  }

  @Test("a server with another certificate is not asked for anything")
  func wrongPin() async throws {
    let pinned = try await makeIdentity()
    try await withServer { server in
      try await withStore { store in
        let record = try await server.record(fingerprint: pinned.fingerprint).server
        await #expect(
          throws: PeerError.certificateChanged(
            peer: TestServer.name, pinned: pinned.fingerprint, seen: server.identity.fingerprint)
        ) {
          try await Pull(into: store, from: record, at: server.endpoint).run()
        }
        #expect(try await server.store.audit.records().isEmpty)
        #expect(try #require(try await server.registry.clients().first).lastSeen == nil)
      }
    }
  }

  @Test("un-pairing tells the server, also when it has forgotten already")
  func unpair() async throws {
    try await withServer { server in
      let (client, record) = try await server.record()
      for _ in 0..<2 { try await Unpair.tell(record, at: server.endpoint) }
      #expect(try #require(try await server.registry.clients().first { $0.id == client }).revoked != nil)
    }
  }

  @Test("two pulls at once into one store leave it right")
  func concurrent() async throws {
    try await withServer(ServerOptions(samples: Samples.heartRates(3_000))) { server in
      try await withStore { store in
        let record = try await server.record().server
        async let first = Pull(into: store, from: record, at: server.endpoint).run()
        async let second = Pull(into: store, from: record, at: server.endpoint).run()
        let (one, two) = try await (first, second)
        #expect(one.added + two.added == 3_000)
        #expect(try await store.content() == server.store.content())
      }
    }
  }
}
