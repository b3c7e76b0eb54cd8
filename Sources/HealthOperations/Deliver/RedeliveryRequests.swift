import Foundation
import HealthAnalysis
import HealthModel
import HealthStore

/// Requests to deliver everything again, or everything from some time on, with the next delivery.
public enum RedeliveryRequests {
  private static let again = ":again"
  /// The name part of a consumer whose filter tells from which time on a destination must forget its delivery state.
  private static let forgetting = ":forget"

  /// The name part of a consumer that withdraws the hours and days of a former home zone.
  private static let former = ":former"

  /// A part of a record to be delivered again. It has its own consumer, which is removed when the part is delivered.
  struct Part {
    var consumer: String
    var filter: SampleFilter
    /// Whether any of it may have been delivered already.
    var hasBegun: Bool
  }

  /// Requests a redelivery, and records that in the audit log. If everything is requested, the destination is told to
  /// discard its data (``DeliveryBatch/startsOver``).
  ///
  /// - Parameters:
  ///   - consumer: the destination's consumer name.
  ///   - start: delivers samples that start at this time or later; `nil` delivers everything.
  ///   - reason: the reason for an automatic request.
  public static func request(
    _ consumer: String, from start: Timestamp?, because reason: String? = nil, in store: HealthStore
  ) async throws {
    var detail = ["destination": consumer, "change": "resynced"]
    detail["from"] = start.map { "\($0)" }
    detail["reason"] = reason
    try await store.audit.record(AuditEvent(.destinationChanged, detail))
    // The destination must forget its state first, because it would skip changes that it takes for known.
    try await ask(consumer + forgetting, SampleFilter(earliest: start), in: store)
    if let start {
      try await deliverAgain(SampleFilter(earliest: start), to: consumer, in: store)
    } else {
      // Destinations' positions are kept from the beginning, so that tombstones are kept for them.
      try await store.startConsumerOver(consumer, with: .everything)
      // Parts are removed last, because their requests must not be lost if this fails halfway.
      for part in try await pending(consumer, in: store) { try await store.removeConsumer(part.consumer) }
    }
  }

  /// Requests redelivery of a part, without making the destination forget its delivery state.
  static func deliverAgain(_ filter: SampleFilter, to consumer: String, in store: HealthStore) async throws {
    try await ask(consumer + again, filter, in: store)
  }

  /// Requests redelivery of a part, unless a pending request covers it and has not begun. A new request would restart
  /// all deliveries. The caller holds the destination's lock.
  static func ensureDeliveredAgain(_ filter: SampleFilter, to consumer: String, in store: HealthStore) async throws {
    try await ask(consumer + again, filter, reusesPending: true, in: store)
  }

  /// Creates a request with a unique name, so that it is not mistaken for one being handled, and removes those it
  /// covers.
  ///
  /// - Parameter reusesPending: creates none if a pending request covers the filter and none of it was delivered yet.
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

  /// Returns the requests to forget delivery state. Each consumer is removed when its request is handled.
  static func toForget(_ consumer: String, in store: HealthStore) async throws -> [Part] {
    try await parts(consumer + forgetting, in: store)
  }

  /// Returns the name of the consumer that withdraws hours and days of the former zone which do not exist in `zone`.
  /// The set differs with each zone.
  static func withdrawal(_ consumer: String, for zone: ZoneRules) -> String { "\(consumer)\(former):\(zone.name)" }

  /// Returns the withdrawals that have not ended. Each keeps all later tombstones in the store.
  static func withdrawals(_ consumer: String, in store: HealthStore) async throws -> [String] {
    try await parts(consumer + former, in: store).map(\.consumer)
  }

  private static func parts(_ name: String, in store: HealthStore) async throws -> [Part] {
    try await store.consumers().filter { isOf($0.name, name) }
      .map { position in
        // The delivery narrows the stored filter to the destination's selection, so only this part is the request.
        var filter = SampleFilter(earliest: position.filter.earliest)
        filter.types = position.filter.types
        return Part(consumer: position.name, filter: filter, hasBegun: position.hasBegun)
      }
  }

  /// Returns whether a consumer belongs to a request or destination. Older versions gave requests no unique ending.
  private static func isOf(_ consumer: String, _ name: String) -> Bool {
    consumer == name || consumer.hasPrefix(name + ":")
  }

  /// Returns whether a consumer stands for a request and not for a destination's own position.
  static func isRequest(_ consumer: String) -> Bool {
    // The name is KIND:NAME:REQUEST; KIND and NAME contain no colon.
    let words = consumer.split(separator: ":", maxSplits: 2).dropFirst(2)
    return words.contains { [again, forgetting, former].contains(where: (":" + $0).hasPrefix) }
  }

  /// Returns the greatest possible number of changes that a destination does not have yet, including those to be
  /// redelivered or withdrawn, or `nil` if nothing was ever delivered or requested.
  ///
  /// - Parameters:
  ///   - consumer: the destination's consumer name.
  ///   - positions: the positions of all consumers.
  public static func behind(_ consumer: String, among positions: [ConsumerPosition]) -> Int? {
    // A request to forget delivers nothing.
    let own = positions.filter { isOf($0.name, consumer) && !isOf($0.name, consumer + forgetting) }
    return own.isEmpty ? nil : own.map(\.behind).reduce(0, +)
  }

  /// Returns whether a redelivery or withdrawal is pending. The parameters are those of ``behind(_:among:)``.
  public static func isAsked(_ consumer: String, among positions: [ConsumerPosition]) -> Bool {
    positions.contains { isOf($0.name, consumer) && isRequest($0.name) }
  }

  /// Returns whether a destination has statistics with a former home zone, preferred source or unit. The next
  /// delivery delivers them again.
  ///
  /// - Parameters:
  ///   - consumer: the destination's consumer name.
  ///   - units: the units in its settings.
  public static func hasOldNumbers(
    _ consumer: String, units: [SampleType: String] = [:], in store: HealthStore
  ) async throws -> Bool {
    guard let kept = try await StatisticsBasis.last(of: consumer, in: store) else { return false }
    let settings = try await store.settings.current()
    // If this machine does not know the zone, the delivery reports that.
    guard let zone = try? ZoneRules(homeOf: settings) else { return false }
    let basis = StatisticsBasis(settings, in: zone, units: units)
    return basis.hasOtherZone(than: kept) || !basis.typesToldOtherwise(than: kept).isEmpty
  }

  /// Returns whether the store keeps tombstones for a destination, because of its position or a request.
  public static func isKnown(_ consumer: String, in store: HealthStore) async throws -> Bool {
    try await store.consumers().contains { isOf($0.name, consumer) }
  }

  /// Removes all positions and states of a destination.
  public static func forget(_ consumer: String, in store: HealthStore) async throws {
    // The position goes first: a delivery that creates a request and still finds the position leaves it to the loop
    // below.
    try await forget(consumer)
    try await StatisticsBasis.forget(of: consumer, in: store)
    try await PlaceLoss.forget(of: consumer, in: store)
    // The state of a handled request outlives its position.
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
