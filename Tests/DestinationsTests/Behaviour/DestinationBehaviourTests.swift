import Foundation
import HealthModel
import HealthStore
import Synchronization
import TestSupport
import Testing

@testable import Destinations

/// Tests of the behaviour that all destinations share, run against a real server of each listed kind. See
/// ``DestinationHarness`` for how to list a kind.
///
/// The tests are serialized, because all tests of a kind share a server, and because a test temporarily invalidates
/// its credentials.
@Suite("Every destination", .serialized, .timeLimit(.minutes(10)))
struct DestinationBehaviourTests {
  @Test("has what it was delivered, what has changed and not what was deleted", arguments: DestinationHarnesses.all)
  func changes(_ listed: ListedHarness) async throws {
    func run(_ harness: some DestinationHarness) async throws {
      let subject = try await DestinationSubject(harness, samples: 120)
      let late = Array(harness.samples(123).suffix(3))
      #expect(try await subject.deliver().delivered == 120)
      try await subject.expectContents()
      try await subject.deliver()
      try await subject.expectContents()
      // A change is a deletion and an addition.
      try await subject.delete(subject.samples[..<2])
      try await subject.store.apply(ChangeBatch(additions: late))
      try await subject.delete(subject.samples[50..<60])
      try await subject.deliver()
      let deleted = Array(subject.samples[..<2] + subject.samples[50..<60])
      try await subject.expectContents(deleted: deleted, added: late)
      #expect(try await subject.deliver() == CourierReport())
    }
    if let harness = try await listed.harness() { try await run(harness) }
  }

  @Test("has nothing twice when everything comes again", arguments: DestinationHarnesses.all)
  func again(_ listed: ListedHarness) async throws {
    func run(_ harness: some DestinationHarness) async throws {
      let subject = try await DestinationSubject(harness, samples: 60)
      try await subject.deliver()
      try await subject.store.removeConsumer(subject.consumer)
      #expect(try await subject.deliver().delivered == 60)
      try await subject.expectContents(mayRepeat: true)
    }
    if let harness = try await listed.harness() { try await run(harness) }
  }

  @Test("forgets what is gone when the record starts over", arguments: DestinationHarnesses.all)
  func startsOver(_ listed: ListedHarness) async throws {
    func run(_ harness: some DestinationHarness) async throws {
      guard harness.forgets else { return }
      let subject = try await DestinationSubject(harness, samples: 60)
      guard try subject.destination().capabilities.deletes else { return }
      try await subject.deliver()
      try await subject.store.removeConsumer(subject.consumer)
      try await subject.delete(subject.samples[10..<20])
      // Of a page that this store has never handed out.
      let receipt = try JSONDecoder().decode(
        ConsumerReceipt.self, from: Data(#"{"previous":1,"page":2,"position":3}"#.utf8))
      try await subject.store.consumer(subject.consumer, receipt: receipt)
      try await subject.deliver()
      try await subject.expectContents(deleted: subject.samples[10..<20], mayRepeat: true)
    }
    if let harness = try await listed.harness() { try await run(harness) }
  }

  @Test("is found to have lost what it was given, and has it again", arguments: DestinationHarnesses.all)
  func loses(_ listed: ListedHarness) async throws {
    func run(_ harness: some DestinationHarness) async throws {
      let subject = try await DestinationSubject(harness, samples: 60)
      func examine() async throws -> PlaceState {
        let destination = try subject.destination()
        let found = try await destination.examine()
        if case .incomplete = found { try await destination.mend() }
        if case .lost = found { try await destination.forget(from: nil) }
        await destination.close()
        return found
      }
      #expect(try await examine() == .intact)
      try await subject.deliver()
      #expect(try await examine() == .intact)
      guard try await harness.loseAll(at: subject.place) else { return }
      let found = try await examine()
      if case .lost = found {
        try await subject.store.removeConsumer(subject.consumer)
        try await subject.deliver()
      } else {
        guard case .incomplete = found else { return #expect(Bool(false), "\(found)") }
      }
      try await subject.expectContents()
      #expect(try await examine() == .intact)
      // News of before does not hide it.
      try await subject.delete(subject.samples[..<2])
      try await subject.deliver()
      #expect(try await examine() == .intact)
      try await subject.expectContents(deleted: subject.samples[..<2])
    }
    if let harness = try await listed.harness() { try await run(harness) }
  }

  @Test("has nothing of this record any more when that is taken away", arguments: DestinationHarnesses.all)
  func purges(_ listed: ListedHarness) async throws {
    func run(_ harness: some DestinationHarness) async throws {
      guard harness.forgets else { return }
      let subject = try await DestinationSubject(harness, samples: 30)
      let destination = try subject.destination()
      guard destination.capabilities.purges else { return }
      try await subject.deliver()
      try await destination.purge()
      await destination.close()
      try await subject.expectContents(deleted: subject.samples)
    }
    if let harness = try await listed.harness() { try await run(harness) }
  }

  @Test("says that it can be delivered to, and leaves nothing of having tried", arguments: DestinationHarnesses.all)
  func check(_ listed: ListedHarness) async throws {
    func run(_ harness: some DestinationHarness) async throws {
      let subject = try await DestinationSubject(harness, samples: 5)
      try await subject.deliver()
      let destination = try subject.destination()
      try await destination.check()
      try await subject.expectContents()
      if let proxy = subject.proxy {
        proxy.set(.away)
        await #expect(throws: DeliveryError.self) { try await destination.check() }
      }
      await destination.close()
    }
    if let harness = try await listed.harness() { try await run(harness) }
  }

  @Test("has what the store has, wherever it was killed", arguments: DestinationHarnesses.all)
  func killed(_ listed: ListedHarness) async throws {
    func run(_ harness: some DestinationHarness) async throws {
      let subject = try await DestinationSubject(harness, samples: 150)
      var random = SeededGenerator(seed: 16)
      var kills = 0
      var deleted: [Sample] = []
      for round in 0..<12 {
        let (count, yields) = (Int.random(in: 0..<4, using: &random), Int.random(in: 0..<300, using: &random))
        let proxy = round.isMultiple(of: 2) ? subject.proxy : nil
        let wasKilled = try await subject.deliverAndKill { kill in
          KilledDestination(
            try subject.destination(), after: proxy == nil ? count : .max, yields: yields, kill: kill)
        } arm: { kill in
          proxy?.atRequest(after: count, kill)
        }
        kills += wasKilled ? 1 : 0
        if !wasKilled || round.isMultiple(of: 3) {
          let next = subject.samples[deleted.count..<deleted.count + 2]
          try await subject.delete(next)
          deleted += next
        }
      }
      #expect(kills > 0)
      try await subject.deliver()
      try await subject.expectContents(deleted: deleted, mayRepeat: true)
    }
    if let harness = try await listed.harness() { try await run(harness) }
  }

  @Test("is told no name of a source or device where names do not travel", arguments: DestinationHarnesses.all)
  func names(_ listed: ListedHarness) async throws {
    if let harness = try await listed.harness() { try await Self.names(harness) }
  }

  private static func names<Harness: DestinationHarness>(_ harness: Harness) async throws {
    var isNamed = false
    for settings in NamelessRecord.settings(of: Harness.Place.description) {
      for sendsNames in [false, true] {
        let subject = try await DestinationSubject(
          harness, NamelessRecord.samples(), sendsNames: sendsNames, settings: settings)
        subject.proxy?.keepWhatIsSent()
        _ = try await subject.deliver()
        try await subject.delete(subject.samples.suffix(4))
        _ = try await subject.deliver()
        let told = NamelessRecord.isNamed(in: try subject.told())
        if sendsNames { isNamed = isNamed || told } else { #expect(!told, "\(settings)") }
      }
    }
    // Otherwise this looks in the wrong place.
    #expect(isNamed)
  }

  // MARK: A broken wire

  @Test("goes on where it stopped when its server was away", arguments: DestinationHarnesses.all)
  func away(_ listed: ListedHarness) async throws {
    func run(_ harness: some DestinationHarness) async throws {
      let subject = try await DestinationSubject(harness, samples: 60)
      guard let proxy = subject.proxy else { return }
      proxy.set(.away)
      await #expect(throws: CourierError.self) { try await subject.deliver() }
      proxy.set(nil)
      #expect(try await subject.deliver().delivered == 60)
      proxy.set(.away)
      try await subject.delete(subject.samples[..<5])
      await #expect(throws: CourierError.self) { try await subject.deliver() }
      proxy.set(nil)
      try await subject.deliver()
      try await subject.expectContents(deleted: subject.samples[..<5])
    }
    if let harness = try await listed.harness() { try await run(harness) }
  }

  @Test("waits for a server that is slow", arguments: DestinationHarnesses.all)
  func slow(_ listed: ListedHarness) async throws {
    func run(_ harness: some DestinationHarness) async throws {
      let subject = try await DestinationSubject(harness, samples: 20)
      subject.proxy?.set(.slow(milliseconds: 300), times: 3)
      #expect(try await subject.deliver() == CourierReport(delivered: 20))
      try await subject.expectContents()
    }
    if let harness = try await listed.harness(), harness.port != nil { try await run(harness) }
  }

  @Test(
    "tries again what a server has no time for, and no sooner than it was told", arguments: DestinationHarnesses.all)
  func tooManyRequests(_ listed: ListedHarness) async throws {
    func run(_ harness: some DestinationHarness) async throws {
      let subject = try await DestinationSubject(harness, samples: 60)
      subject.proxy?.set(.status(429, retryAfter: "7"), times: 2)
      let pauses = Mutex<[Duration]>([])
      let report = try await subject.deliver { event in
        if case .failed(_, let pause) = event { pauses.withLock { $0.append(pause) } }
      }
      #expect((report.delivered, report.refused) == (60, 0))
      // As long as the policy obeys anybody.
      #expect(pauses.withLock(\.self).allSatisfy { $0 == .milliseconds(20) })
      #expect(pauses.withLock(\.self).count == 2)
      try await subject.expectContents()
    }
    if let harness = try await listed.harness(), harness.speaksHTTP { try await run(harness) }
  }

  @Test("loses nothing to a server that fails", arguments: DestinationHarnesses.all, [500, 503, 507])
  func failing(_ listed: ListedHarness, _ status: Int) async throws {
    func run(_ harness: some DestinationHarness) async throws {
      let subject = try await DestinationSubject(harness, samples: 60)
      subject.proxy?.set(.status(status))
      await #expect(throws: CourierError.self) { try await subject.deliver() }
      subject.proxy?.set(nil)
      #expect(try await subject.deliver().refused == 0)
      try await subject.expectContents()
    }
    if let harness = try await listed.harness(), harness.speaksHTTP { try await run(harness) }
  }

  @Test(
    "has everything once when a connection was cut after the request had arrived, or is half closed",
    arguments: DestinationHarnesses.all, [FaultProxy.Fault.lostAnswer, .halfClosed])
  func cut(_ listed: ListedHarness, _ fault: FaultProxy.Fault) async throws {
    func run(_ harness: some DestinationHarness) async throws {
      for requests in 0..<4 {
        let subject = try await DestinationSubject(harness, samples: 25)
        subject.proxy?.set(fault, after: requests, times: 1)
        #expect(try await subject.deliver().refused == 0)
        subject.proxy?.set(nil)
        try await subject.expectContents(mayRepeat: true)
      }
    }
    if let harness = try await listed.harness(), harness.port != nil { try await run(harness) }
  }

  @Test("sends nothing to a server with a wrong certificate", arguments: DestinationHarnesses.all)
  func wrongCertificate(_ listed: ListedHarness) async throws {
    func run(_ harness: some DestinationHarness) async throws {
      let subject = try await DestinationSubject(harness, samples: 5)
      let certificates = URL(filePath: #filePath).appending(path: "../../../../certs").standardized.path
      let server = try ServerProcess(
        "/usr/bin/openssl",
        ["s_server", "-accept", "127.0.0.1:0", "-cert", "other.pem", "-key", "other.key.pem", "-www"],
        in: certificates, until: "ACCEPT 127.0.0.1:")
      var place = subject.place
      (place.port, place.scheme) = (server.port, "https")
      let wrong = place
      let error = await #expect(throws: CourierError.self) { try await subject.deliver(at: wrong) }
      guard case .unusable = error else { return #expect(Bool(false), "\(error.map { "\($0)" } ?? "nothing")") }
      #expect(try await subject.deliver().delivered == 5)
      try await subject.expectContents()
    }
    if let harness = try await listed.harness(), harness.speaksHTTP { try await run(harness) }
  }

  @Test(
    "stops while its credentials are taken away, and goes on when they are back", arguments: DestinationHarnesses.all)
  func credentials(_ listed: ListedHarness) async throws {
    func run(_ harness: some DestinationHarness) async throws {
      let subject = try await DestinationSubject(harness, samples: 60)
      guard try await harness.setCredentials(areValid: false) else { return }
      let error = await #expect(throws: CourierError.self) { try await subject.deliver() }
      if case .gaveUp = error { #expect(Bool(false), "wrong credentials are the person's to mend: \(error as Any)") }
      let destination = try subject.destination()
      await #expect(throws: DeliveryError.self) { try await destination.check() }
      await destination.close()
      _ = try await harness.setCredentials(areValid: true)
      #expect(try await subject.deliver().refused == 0)
      try await subject.expectContents()
    }
    if let harness = try await listed.harness() { try await run(harness) }
  }
}
