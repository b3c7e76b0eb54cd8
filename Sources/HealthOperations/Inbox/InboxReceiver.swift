import Foundation
import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem
import PeerServer
import PeerTrust

/// A receiver that stores the bodies of an inbox, each in one transaction, and identical samples once.
public struct InboxReceiver: InboxHandler {
  /// The maximum number of names of sources, types, units and devices from one sender. Each stays in the store for
  /// good.
  public static let nameLimit = InboxBody.Limits().names
  /// The maximum length of a name, in bytes.
  private static let longestName = 1_000
  /// The maximum number of reasons in a receipt.
  private static let reasonLimit = 20

  private let store: HealthStore
  private let registry: PeerRegistry
  private let limits: InboxBody.Limits
  private let zones: InboxZoneWatch?

  /// - Parameters:
  ///   - limits: the most that one body may hold.
  ///   - zones: told of the clock of each body that was taken; nil if no person would hear of it.
  public init(
    store: HealthStore, registry: PeerRegistry, limits: InboxBody.Limits = .init(), zones: InboxZoneWatch? = nil
  ) {
    (self.store, self.registry, self.limits, self.zones) = (store, registry, limits, zones)
  }

  public func take(_ delivery: InboxDelivery) async throws -> InboxReceipt {
    let sender = delivery.sender
    let hash = Self.hash(of: delivery)
    if let receipt = try await knownReceipt(for: hash, of: sender) { return receipt }
    // The first arrival counts as the time of the content, because most apps send no time.
    let arrival = try await registry.inboxArrival(of: hash, from: sender.name) ?? .now
    let body = try await read(delivery, arrivedAt: arrival)
    let receipt = InboxReceipt(
      format: body.format.rawValue, taken: body.count, leftOut: Self.told(body.skipped), contentBytes: body.contentBytes
    )
    if body.count > 0 {
      try await registry.noteInboxBody(hash, of: sender.name, at: arrival)
      try await write(body, of: sender)
      try await zones?.heard(delivery.bytes, from: sender.name, in: store)
    }
    // If the process is killed before this, the same body arrives again and adds nothing.
    try await keep(receipt, for: hash, of: sender)
    return receipt
  }

  // MARK: Known bodies

  /// A stored answer with the position of the store at that time. A store that was restored from an older copy, or
  /// created anew, may lack the samples, and then the answer does not count.
  private struct KnownAnswer: Codable {
    var receipt: InboxReceipt
    var change: Int64
    var epoch: Epoch
  }

  private func knownReceipt(for hash: Data, of sender: InboxSender) async throws -> InboxReceipt? {
    guard let text = try await registry.inboxAnswer(to: hash, of: sender.name),
      let answer = try? JSONDecoder().decode(KnownAnswer.self, from: Data(text.utf8)),
      try await store.feed.holds(Anchor(change: answer.change), answer.epoch)
    else { return nil }
    return answer.receipt
  }

  private func keep(_ receipt: InboxReceipt, for hash: Data, of sender: InboxSender) async throws {
    let position = try await store.feed.currentPosition()
    let answer = KnownAnswer(receipt: receipt, change: position.anchor.change, epoch: position.epoch)
    try await registry.keepInboxAnswer(
      String(decoding: try JSONEncoder().encode(answer), as: UTF8.self), to: hash, of: sender.name)
  }

  // MARK: New bodies

  private static func hash(of delivery: InboxDelivery) -> Data {
    let run = delivery.session.map { (delivery.aggregation ?? "") + "\u{1F}" + $0 }
    return InboxBodyHash.hash(of: delivery.bytes, beside: run ?? delivery.aggregation)
  }

  private func read(_ delivery: InboxDelivery, arrivedAt arrival: Timestamp) async throws -> InboxBody {
    let (bytes, aggregation, limits) = (delivery.bytes, delivery.aggregation, limits)
    var body: InboxBody
    do {
      body = try await onThread { (_) throws(InboxBodyError) in
        try InboxBody(bytes, aggregation: aggregation, limits: limits, now: arrival)
      }
    } catch {
      if error == .tooManyNames(limit: limits.names) { throw InboxRefusal.tooManyNames(limit: limits.names) }
      throw error.isTooMuch ? InboxRefusal.tooMuch("\(error)") : InboxRefusal.unreadable("\(error)")
    }
    body.leaveOutPerson()
    let unwanted = body.keep(delivery.sender.types)
    if body.count == 0, unwanted > 0 { throw InboxRefusal.outOfScope }
    return body
  }

  private func write(_ body: InboxBody, of sender: InboxSender) async throws {
    let names = body.names
    guard names.allSatisfy({ $0.utf8.count <= Self.longestName }) else {
      throw InboxRefusal.unreadable(
        "The body has a name of a source, type, unit or device that is too long, so nothing of it was taken.")
    }
    do {
      try await registry.countInboxNames(names, of: sender.name, limit: Self.nameLimit)
    } catch let error as InboxNamesExceeded {
      throw InboxRefusal.tooManyNames(limit: error.limit)
    }
    do {
      try await receive(body, of: sender)
    } catch StoreError.ownerChanged {
      throw InboxRefusal.anotherPerson
    }
  }

  /// Stores the samples of a body. Errors are untyped, because the compiler crashes on matching a typed payload.
  private func receive(_ body: InboxBody, of sender: InboxSender) async throws {
    let (format, count, readings) = (body.format.rawValue, body.count, body.batches.flatMap(\.readings))
    let summary = try await store.receive(
      body.batches.map(\.changes), readings: readings, road: body.road, from: "inbox:\(sender.name)"
    ) { summary in
      // Known samples leave no audit event, so that a sender that repeats itself cannot fill the disk.
      guard summary.added > 0 || summary.deleted > 0 else { return nil }
      return AuditEvent(
        .inboxReceived,
        ["sender": sender.name, "format": format, "count": String(count), "added": String(summary.added)])
    } if: { owner in
      sender.person.contradictions(to: owner.person).isEmpty
    }
    guard summary == nil else { return }
    throw InboxRefusal.unreadable(
      "The body has samples of a type and time of which there are more than anyone's already, so nothing of it was taken."
    )
  }

  private static func told(_ skipped: [String: ImportReport.Finding]) -> [String: Int] {
    let sorted = skipped.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
    return Dictionary(
      sorted.prefix(reasonLimit).map { ($0.key, $0.value.count) }, uniquingKeysWith: { first, _ in first })
  }
}
