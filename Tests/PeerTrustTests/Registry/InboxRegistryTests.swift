import Foundation
import HealthModel
import Testing

@testable import PeerTrust

@Suite struct InboxRegistryTests {
  let directory: TemporaryDirectory
  let registry: PeerRegistry
  private let now = Date(timeIntervalSince1970: 1_800_000_000)

  init() async throws {
    directory = try TemporaryDirectory()
    registry = try await PeerRegistry.open(in: directory.url)
  }

  private func add(_ name: String, types: Set<SampleType>? = nil, person: Person = Person()) async throws -> BearerToken
  {
    let secret = BearerToken.random()
    try await registry.addInboxSender(name, secret: secret, types: types, person: person, now: now)
    return secret
  }

  @Test("a sender is known by its secret alone, which is kept nowhere, until it is replaced or revoked")
  func senders() async throws {
    let person = Person(characteristics: [Person.Trait.dateOfBirth.rawValue: "1986-05-17"])
    let first = try await add("phone", types: [SampleType("a"), SampleType("b")], person: person)
    let found = try #require(try await registry.inboxSender(showing: first))
    #expect(found.name == "phone" && found.types == [SampleType("a"), SampleType("b")] && found.person == person)
    #expect(found.created == now && found.lastSeen == nil)
    #expect(try await registry.inboxSender(showing: .random()) == nil)
    let bytes = try Data(contentsOf: directory.url.appending(path: "peers.sqlite"))
    #expect(bytes.range(of: Data(first.text.utf8)) == nil)

    try await registry.touchInboxSender(found, now: now + 5)
    let seen = try #require(try await registry.inboxSender(showing: first))
    #expect(seen.lastSeen == now + 5)
    try await registry.touchInboxSender(seen, now: now + 6)
    #expect(try await registry.inboxSender(showing: first)?.lastSeen == now + 5)

    let second = try await add("phone")
    #expect(try await registry.inboxSender(showing: first) == nil)
    #expect(try await registry.inboxSender(showing: second)?.types == nil)
    #expect(try await registry.revokeInboxSender("phone", now: now))
    #expect(try await registry.inboxSender(showing: second) == nil)
    #expect(try await !registry.revokeInboxSender("phone"))
    #expect(try await registry.inboxSenders().map(\.revoked) == [now])
    for name in ["", "Phone", "a/b", "ä", String(repeating: "a", count: 41)] { #expect(!InboxSender.isName(name)) }
  }

  @Test("bodies are known again by sender, the newest of them, and no longer after a new secret")
  func bodies() async throws {
    _ = try await add("phone")
    let hash = InboxBodyHash.hash(of: [1, 2, 3])
    #expect(hash != InboxBodyHash.hash(of: [1, 2, 3], beside: "Days"))
    try await registry.keepInboxAnswer("taken", to: hash, of: "phone", now: now)
    #expect(try await registry.inboxAnswer(to: hash, of: "phone") == "taken")
    #expect(try await registry.inboxAnswer(to: hash, of: "scale") == nil)
    for index in 0..<3 {
      try await registry.keepInboxAnswer(
        "later", to: InboxBodyHash.hash(of: Array("\(index)".utf8)), of: "phone", limit: 3,
        now: now + Double(index + 1))
    }
    #expect(try await registry.inboxAnswer(to: hash, of: "phone") == nil)
    #expect(try await registry.inboxAnswer(to: InboxBodyHash.hash(of: Array("0".utf8)), of: "phone") == "later")
    _ = try await add("phone")
    #expect(try await registry.inboxAnswer(to: InboxBodyHash.hash(of: Array("0".utf8)), of: "phone") == nil)
  }

  @Test("a body came when it came first, also after a new secret and without its answer; the newest are known")
  func arrivals() async throws {
    _ = try await add("phone")
    let first = Timestamp(microseconds: 1_800_000_000_123_457)
    let later = Timestamp(microseconds: 1_800_000_900_000_001)
    let hash = InboxBodyHash.hash(of: [1, 2, 3])
    #expect(try await registry.inboxArrival(of: hash, from: "phone") == nil)
    try await registry.noteInboxBody(hash, of: "phone", at: first)
    #expect(try await registry.inboxAnswer(to: hash, of: "phone") == nil)
    try await registry.noteInboxBody(hash, of: "phone", at: later)
    try await registry.keepInboxAnswer("taken", to: hash, of: "phone")
    #expect(try await registry.inboxAnswer(to: hash, of: "phone") == "taken")
    _ = try await add("phone")
    #expect(try await registry.inboxAnswer(to: hash, of: "phone") == nil)
    #expect(try await registry.inboxArrival(of: hash, from: "phone") == first)
    #expect(try await registry.inboxArrival(of: hash, from: "scale") == nil)
    for index: UInt8 in 0..<2 {
      try await registry.noteInboxBody(
        InboxBodyHash.hash(of: [index]), of: "phone", at: Timestamp(microseconds: later.microseconds + Int64(index)),
        limit: 2)
    }
    #expect(try await registry.inboxArrival(of: hash, from: "phone") == nil)
    #expect(try await registry.revokeInboxSender("phone"))
    #expect(try await registry.inboxLastReceived().isEmpty)
  }

  @Test("after a machine was put back from a backup, what apps have sent may come again")
  func restored() async throws {
    _ = try await add("phone")
    let hash = InboxBodyHash.hash(of: [1, 2, 3])
    try await registry.keepInboxAnswer("taken", to: hash, of: "phone", now: now)
    #expect(try await registry.beginRestoration(made: now) == nil)
    #expect(try await registry.inboxAnswer(to: hash, of: "phone") == nil)
    #expect(try await registry.inboxArrival(of: hash, from: "phone")?.seconds == 1_800_000_000)
  }

  @Test("a sender's names have a budget, and one too many is not counted")
  func names() async throws {
    try await registry.countInboxNames(["a", "b"], of: "phone", limit: 3)
    try await registry.countInboxNames(["b", "c"], of: "phone", limit: 3)
    await #expect(throws: InboxNamesExceeded(limit: 3)) {
      try await registry.countInboxNames(["c", "d"], of: "phone", limit: 3)
    }
    try await registry.countInboxNames(["a", "b", "c"], of: "phone", limit: 3)
    try await registry.countInboxNames(["d"], of: "scale", limit: 3)
  }
}
