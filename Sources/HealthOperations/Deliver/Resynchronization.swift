import Foundation
import HealthAnalysis
import HealthModel
import HealthStore

/// Has everything, or everything from some time on, delivered again with the next delivery.
public enum Resynchronization {
  private static let again = ":again"
  /// Of a consumer that only says, by its filter, of which time a destination is to forget what it remembers.
  private static let forgetting = ":forget"

  /// Of a consumer that takes back the hours and days of a zone that was the person's home before.
  private static let former = ":former"

  /// A part of a record that is to be delivered again, by a consumer of its own that ends with it.
  struct Part {
    var consumer: String
    var filter: SampleFilter
    /// Whether anything of it may have been given to the destination.
    var hasBegun: Bool
  }

  /// Asks for it, and writes that into the audit log. Asked for everything, the destination is told to forget what it has
  /// (``DeliveryBatch/startsOver``).
  ///
  /// - Parameters:
  ///   - consumer: of the destination.
  ///   - start: only what starts then or later; `nil` for everything.
  ///   - reason: why, where nobody has asked for it.
  public static func request(
    _ consumer: String, from start: Timestamp?, because reason: String? = nil, in store: HealthStore
  ) async throws {
    var detail = ["destination": consumer, "change": "resynced"]
    detail["from"] = start.map { "\($0)" }
    detail["reason"] = reason
    try await store.audit.record(AuditEvent(.destinationChanged, detail))
    // First, so that nothing is delivered again to a destination that takes it for known.
    try await ask(consumer + forgetting, SampleFilter(earliest: start), in: store)
    if let start {
      try await deliverAgain(SampleFilter(earliest: start), to: consumer, in: store)
    } else {
      // Positions of destinations are there from the beginning, so that deletions are kept for them.
      try await store.startConsumerOver(consumer, with: .everything)
      // Last: until then, what they ask for is asked for by nothing else.
      for part in try await pending(consumer, in: store) { try await store.removeConsumer(part.consumer) }
    }
  }

  /// Has a part delivered again to a destination that still has what it remembers.
  static func deliverAgain(_ filter: SampleFilter, to consumer: String, in store: HealthStore) async throws {
    try await ask(consumer + again, filter, in: store)
  }

  /// The same, but not twice where an attempt was cut off before anything was delivered again: a new request restarts all
  /// deliveries. The caller holds the destination's lock.
  static func ensureDeliveredAgain(_ filter: SampleFilter, to consumer: String, in store: HealthStore) async throws {
    try await ask(consumer + again, filter, reusesPending: true, in: store)
  }

  /// Each request has a name of its own: one that comes while another is being dealt with is not taken for that one. It
  /// takes the place of those that ask for no more.
  ///
  /// - Parameter reusesPending: makes none where one that contains it is pending, and nothing of that was handed out.
  private static func ask(
    _ name: String, _ filter: SampleFilter, reusesPending: Bool = false, in store: HealthStore
  ) async throws {
    let parts = try await parts(name, in: store)
    let reused = reusesPending ? parts.first { !$0.hasBegun && $0.filter.contains(filter) } : nil
    if reused == nil { try await store.consumer("\(name):\(UUID().uuidString.lowercased())", filter: filter) }
    for part in parts where filter.contains(part.filter) && part.consumer != reused?.consumer {
      try await store.removeConsumer(part.consumer)
    }
  }

  static func pending(_ consumer: String, in store: HealthStore) async throws -> [Part] {
    try await parts(consumer + again, in: store)
  }

  /// Of which time a destination is to forget what it remembers; done with each, the consumer is removed.
  static func toForget(_ consumer: String, in store: HealthStore) async throws -> [Part] {
    try await parts(consumer + forgetting, in: store)
  }

  /// Which consumer takes back the hours and days of the zone from before that a zone has not: another zone lacks others.
  static func withdrawal(_ consumer: String, for zone: ZoneRules) -> String { "\(consumer)\(former):\(zone.name)" }

  /// What was begun and never ended keeps all later deletions in the store.
  static func withdrawals(_ consumer: String, in store: HealthStore) async throws -> [String] {
    try await parts(consumer + former, in: store).map(\.consumer)
  }

  private static func parts(_ name: String, in store: HealthStore) async throws -> [Part] {
    try await store.consumers().filter { isOf($0.name, name) }
      .map { position in
        // What the destination selects is intersected with this; a delivery that began has narrowed it.
        var filter = SampleFilter(earliest: position.filter.earliest)
        filter.types = position.filter.types
        return Part(consumer: position.name, filter: filter, hasBegun: position.hasBegun)
      }
  }

  /// Without an end of its own, as requests were once named.
  private static func isOf(_ consumer: String, _ name: String) -> Bool {
    consumer == name || consumer.hasPrefix(name + ":")
  }

  /// Whether a consumer is there only because this was asked for.
  static func isRequest(_ consumer: String) -> Bool {
    // KIND:NAME:REQUEST, and neither of the first two has a colon.
    let words = consumer.split(separator: ":", maxSplits: 2).dropFirst(2)
    return words.contains { [again, forgetting, former].contains(where: (":" + $0).hasPrefix) }
  }

  /// The changes that a destination has not been given, at most, with those that are to be delivered again or taken back;
  /// `nil` where nothing was ever delivered or asked for.
  ///
  /// - Parameters:
  ///   - consumer: of the destination.
  ///   - positions: of all consumers.
  public static func behind(_ consumer: String, among positions: [ConsumerPosition]) -> Int? {
    // What is to be forgotten is no delivery.
    let own = positions.filter { isOf($0.name, consumer) && !isOf($0.name, consumer + forgetting) }
    return own.isEmpty ? nil : own.map(\.behind).reduce(0, +)
  }

  /// Whether anything is to be delivered again or taken back. Parameters as of ``behind(_:among:)``.
  public static func isAsked(_ consumer: String, among positions: [ConsumerPosition]) -> Bool {
    positions.contains { isOf($0.name, consumer) && isRequest($0.name) }
  }

  /// Whether a destination has numbers of a home zone, a first source or a unit that is another by now: with the next delivery,
  /// they are delivered again.
  ///
  /// - Parameters:
  ///   - consumer: of the destination.
  ///   - units: that its settings name.
  public static func hasOldNumbers(
    _ consumer: String, units: [SampleType: String] = [:], in store: HealthStore
  ) async throws -> Bool {
    guard let kept = try await NumberBasis.kept(of: consumer, in: store) else { return false }
    let settings = try await store.settings.current()
    // Of a zone that this machine does not know, the delivery tells.
    guard let zone = try? ZoneRules(homeOf: settings) else { return false }
    let basis = NumberBasis(settings, in: zone, units: units)
    return basis.hasOtherZone(than: kept) || !basis.typesToldOtherwise(than: kept).isEmpty
  }

  /// Whether anything of a consumer is in the store that holds deletions for it: its position, or a request.
  public static func isKnown(_ consumer: String, in store: HealthStore) async throws -> Bool {
    try await store.consumers().contains { isOf($0.name, consumer) }
  }

  /// Forgets positions and states of a consumer.
  public static func forget(_ consumer: String, in store: HealthStore) async throws {
    // First: a delivery that makes a request, and finds the position there afterwards, leaves the request to what follows.
    try await forget(consumer)
    try await NumberBasis.forget(of: consumer, in: store)
    try await PlaceLoss.forget(of: consumer, in: store)
    // The state of a request that is dealt with outlives its position.
    let (positions, states) = (try await store.consumers(), try await store.deliveries.all())
    for name in Set(positions.map(\.name) + states.map(\.consumer)) where isOf(name, consumer) {
      try await forget(name)
    }

    func forget(_ name: String) async throws {
      try await store.removeConsumer(name)
      try await store.deliveries.remove(name)
    }
  }
}
