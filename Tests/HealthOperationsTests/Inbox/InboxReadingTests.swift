import Foundation
import HealthModel
import HealthStore
import OperatingSystem
import PeerServer
import PeerTrust
import Synchronization
import TestSupport
import Testing

@testable import HealthOperations

/// Tests of readings from apps that don't send their time: a body dates from its first arrival, and senders don't
/// affect each other.
@Suite(.timeLimit(.minutes(5))) struct InboxReadingTests {
  private static let steps = SampleType("hae.step_count")
  private static let rates = SampleType("hae.heart_rate")
  private static let longAgo = "2024-06-15"
  private let home: TestHome
  private let registry: PeerRegistry
  private let inbox: InboxReceiver

  init() async throws {
    home = try TestHome()
    registry = try await home.home.openRegistry()
    inbox = InboxReceiver(store: home.store, registry: registry)
  }

  private func add(_ name: String) async throws {
    try await registry.addInboxSender(name, secret: .random(), types: nil, person: Person())
  }

  private func take(_ body: String, from name: String, run: String? = nil) async throws {
    let sender = try #require(try await registry.inboxSenders().first { $0.name == name })
    _ = try await inbox.take(
      InboxDelivery(sender: sender, bytes: Array(body.utf8), aggregation: "Days", session: run))
  }

  private func values(_ type: SampleType = Self.steps) async throws -> [Payload] {
    try await home.store.samples.page(of: type, limit: 10).map(\.payload)
  }

  private func count(_ steps: Int) -> [Payload] { [.quantity(Quantity(Double(steps), "count"))] }

  private func average(_ value: Int) -> String {
    #"""
    {"data":{"metrics":[{"name":"heart_rate","units":"count/min","data":[
    {"qty":\#(value),"date":"\#(Self.longAgo) 00:00:00 +0200","source":"Watch"}]}]}}
    """#
  }

  @Test("a phone whose clock is not that of the days here is noticed once, and not when a home zone was chosen")
  func foreignZone() async throws {
    let heard = Mutex<[String]>([])
    func inbox(_ zone: String) throws -> InboxReceiver {
      let zone = try #require(TimeZone(identifier: zone))
      return InboxReceiver(
        store: home.store, registry: registry,
        zones: InboxZoneWatch(current: { zone }) { sender, clock in
          heard.withLock { $0.append("\(sender) \(clock.offset)") }
        })
    }
    try await add("phone")
    let sender = try #require(try await registry.inboxSenders().first)
    var value = 60
    func take(_ inbox: InboxReceiver) async throws {
      value += 1
      _ = try await inbox.take(
        InboxDelivery(sender: sender, bytes: Array(average(value).utf8), aggregation: "Days", session: nil))
    }
    // Summer time, as the body has it.
    try await take(inbox("Europe/Berlin"))
    #expect(heard.withLock(\.self) == [])
    let foreign = try inbox("America/New_York")
    try await take(foreign)
    try await take(foreign)
    #expect(heard.withLock(\.self) == ["phone 7200"])
    try await home.store.settings.setHomeZone("America/New_York")
    try await take(inbox("America/New_York"))
    #expect(heard.withLock(\.self) == ["phone 7200"])
  }

  /// An app sends a day's value repeatedly, and any body may be sent again later. The last new body counts.
  @Test(arguments: 0..<4 as Range<UInt64>)
  func anOldBodyRestoresNothing(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    try await add("phone")
    var sent: [(body: String, run: String)] = []
    var last = 0
    for step in 0..<25 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0: try await add("phone")
      case 1...5:
        last = Int.random(in: 1...4, using: &random) * 1_000
        sent.append((SenderBodies.autoExport(steps: last), "\(step)"))
        try await take(sent[sent.count - 1].body, from: "phone", run: sent[sent.count - 1].run)
      default:
        if let old = sent.randomElement(using: &random) { try await take(old.body, from: "phone", run: old.run) }
      }
      #expect(try await values() == (sent.isEmpty ? [] : count(last)), "seed \(seed), step \(step)")
    }
  }

  @Test func withoutARunTheSameBytesAreTheSameBody() async throws {
    try await add("phone")
    for steps in [8_432, 9_000, 8_432] { try await take(SenderBodies.autoExport(steps: steps), from: "phone") }
    #expect(try await values() == count(9_000))
  }

  @Test("what a store lacks that was put back from an older copy, or made anew, is taken when it comes again")
  func putBack() async throws {
    try await add("phone")
    try await take(SenderBodies.transfer1, from: "phone")
    let older = home.directory.path("older")
    try FileManager.default.createDirectory(
      atPath: older, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    try await onThread { [store = home.store] _ in
      try store.copyBlocking(to: "\(older)/\(HealthStore.fileName)", withoutKey: false)
    }
    try await take(SenderBodies.autoExport(steps: 8_432), from: "phone")
    let copy = try HealthStore(directory: older)
    let anew = try TestHome()
    let sender = try #require(try await registry.inboxSenders().first)
    let again = InboxDelivery(
      sender: sender, bytes: Array(SenderBodies.autoExport(steps: 8_432).utf8), aggregation: "Days")
    for store in [copy, anew.store] {
      // Twice: what is known by then is not read again, and is there.
      for _ in 0..<2 {
        let receipt = try await InboxReceiver(store: store, registry: registry).take(again)
        #expect(receipt.taken == 2)
        #expect(try await store.samples.page(of: Self.steps, limit: 10).map(\.payload) == count(8_432))
      }
    }
  }

  @Test("refusals that were not written down are counted with the next that is")
  func refusals() async throws {
    try await add("phone")
    for unwritten in [nil, "4"] {
      var detail = ["sender": "phone", "reason": "scope"]
      detail["alsoRefused"] = unwritten
      try await home.store.audit.record(AuditEvent(.inboxRefused, detail))
    }
    let standing = try await InboxStatus(of: home.home, registry, home.store, nil)
    #expect(standing.senders.map { $0.refused?.count } == [6])
  }

  @Test func aSenderReplacesNoReadingOfAnotherThatWasWhole() async throws {
    for name in ["phone", "tablet"] { try await add(name) }
    try await take(SenderBodies.autoExport(steps: 8_432), from: "phone")
    try await take(SenderBodies.autoExport(steps: 120), from: "tablet")
    #expect(try await values() == count(8_432))
    // Its own it does, and any where there is none.
    try await take(SenderBodies.autoExport(steps: 8_500), from: "phone")
    #expect(try await values() == count(8_500))
    try await take(SenderBodies.autoExport(steps: 120, day: "2024-06-14"), from: "tablet")
    #expect(try await values().count == 2)
    // What is not a sender any more keeps nothing from others.
    #expect(try await registry.revokeInboxSender("phone"))
    try await take(SenderBodies.autoExport(steps: 8_600), from: "tablet")
    #expect(try await Set(values()) == Set(count(8_600) + count(120)))
  }

  @Test func aReadingOfADayThatHasNotEndedIsReplacedByAnySender() async throws {
    for name in ["phone", "tablet"] { try await add(name) }
    try await take(SenderBodies.autoExport(steps: 500, day: "2999-01-01"), from: "phone")
    try await take(SenderBodies.autoExport(steps: 700, day: "2999-01-01"), from: "tablet")
    #expect(try await values() == count(700))
  }

  private func heartRate() async throws -> Sample {
    let samples = try await home.store.samples.page(of: SampleType("HKQuantityTypeIdentifierHeartRate"), limit: 10)
    return try #require(samples.count == 1 ? samples[0] : nil)
  }

  /// The most detailed copy of a sample with HealthKit's UUID wins, independent of its sender and time.
  @Test(arguments: [true, false])
  func aSampleIsTheCopyThatSaysMost(richFirst: Bool) async throws {
    for name in ["phone", "tablet"] { try await add(name) }
    let poor = SenderBodies.transfer1.replacing(#""sourceBundleIdentifier":"com.apple.health.watch","#, with: "")
    let bodies = richFirst ? [SenderBodies.transfer1, poor] : [poor, SenderBodies.transfer1]
    try await take(bodies[0], from: "phone")
    try await take(bodies[1], from: "tablet")
    #expect(try await heartRate().source.bundleIdentifier == "com.apple.health.watch")
  }

  /// A sender that knows a sample's UUID can't change what another sender sent, even with a more detailed copy.
  @Test func aSenderContradictsNoOther() async throws {
    for name in ["phone", "tablet"] { try await add(name) }
    let more = SenderBodies.transfer1.replacing(
      #""type":"#, with: ##""metadataJSON":"{\"HKMetadataKeyHeartRateMotionContext\":1}","type":"##)
    try await take(SenderBodies.transfer1, from: "phone")
    let first = try await heartRate()
    for lie in [more.replacing("62", with: "99"), more.replacing(#""Watch""#, with: #""Ring""#)] {
      try await take(lie, from: "tablet")
      #expect(try await heartRate() == first, "\(lie)")
    }
    // What it says of it beside is taken.
    try await take(more, from: "tablet")
    #expect(try await heartRate().metadata.count == 1)
    // Nor of what came by a pull.
    let pulled = try TestHome()
    let registry = try await pulled.home.openRegistry()
    try await registry.addInboxSender("phone", secret: .random(), types: nil, person: Person())
    var coder = ChangeCoder()
    try coder.add(first, road: .healthSync)
    try await pulled.store.apply([coder.changes])
    let sender = try #require(try await registry.inboxSenders().first)
    _ = try await InboxReceiver(store: pulled.store, registry: registry).take(
      InboxDelivery(sender: sender, bytes: Array(more.replacing("62", with: "99").utf8), aggregation: nil))
    let kept = try await pulled.store.samples.page(of: first.type, limit: 10)
    #expect(kept == [first])
  }

  /// A sender can correct its own samples.
  @Test func aSenderCorrectsItsOwn() async throws {
    try await add("phone")
    try await take(SenderBodies.transfer1, from: "phone")
    for (value, note) in [(99, "A"), (98, "B")] {
      // Each says more than the one before.
      let notes = (0..<(100 - value)).map { #"\"\#(note)\#($0)\":1"# }.joined(separator: ",")
      try await take(
        SenderBodies.transfer1.replacing("62", with: "\(value)").replacing(
          #""type":"#, with: ##""metadataJSON":"{\##(notes)}","type":"##), from: "phone")
      #expect(try await heartRate().payload == .quantity(Quantity(Double(value), "count/min")))
    }
  }

  @Test func aReadingThatSaysMoreReplacesOneThatSaysLess() async throws {
    for name in ["phone", "tablet"] { try await add(name) }
    try await take(average(71), from: "phone")
    #expect(try await values(Self.rates) == [.quantity(Quantity(71, "count/min"))])
    try await take(SenderBodies.autoExport(), from: "tablet")
    let rich = try await values(Self.rates)
    #expect(rich.map(\.kind) == ["healthAutoExport"])
    try await take(average(72), from: "phone")
    #expect(try await values(Self.rates) == rich)
  }
}
