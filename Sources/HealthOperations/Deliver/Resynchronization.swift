import Foundation
import HealthModel
import HealthStore

/// Has everything, or everything from some time on, delivered again with the next delivery.
public enum Resynchronization {
  private static let again = ":again"
  /// Of a consumer that only says, by its filter, of which time a destination is to forget what it remembers.
  private static let forgetting = ":forget"

  /// A part of a record that is to be delivered again, by a consumer of its own that ends with it.
  struct Part {
    var consumer: String
    var filter: SampleFilter
  }

  /// Asks for it, and writes that into the audit log.
  ///
  /// - Parameters:
  ///   - consumer: of the destination.
  ///   - start: only what starts then or later; `nil` for everything.
  public static func request(_ consumer: String, from start: Timestamp?, in store: HealthStore) async throws {
    var detail = ["destination": consumer, "change": "resynced"]
    detail["from"] = start.map { "\($0)" }
    try await store.audit.record(AuditEvent(.destinationChanged, detail))
    // First, so that nothing is delivered again to a destination that takes it for known.
    try await store.removeConsumer(consumer + forgetting)
    try await store.consumer(consumer + forgetting, filter: SampleFilter(earliest: start))
    if let start {
      try await store.removeConsumer(consumer + again)
      try await store.consumer(consumer + again, filter: SampleFilter(earliest: start))
    } else {
      try await store.removeConsumer(consumer + again)
      try await store.removeConsumer(consumer)
      // Positions of destinations are there from the beginning, so that deletions are kept for them.
      try await store.consumer(consumer)
    }
  }

  static func pending(_ consumer: String, in store: HealthStore) async throws -> [Part] {
    try await parts(consumer + again, in: store)
  }

  /// Of which time a destination is to forget what it remembers; done with each, the consumer is removed.
  static func toForget(_ consumer: String, in store: HealthStore) async throws -> [Part] {
    try await parts(consumer + forgetting, in: store)
  }

  private static func parts(_ name: String, in store: HealthStore) async throws -> [Part] {
    try await store.consumers().filter { $0.name == name }
      .map { Part(consumer: $0.name, filter: SampleFilter(earliest: $0.filter.earliest)) }
  }

  /// Whether a consumer is there only because this was asked for.
  static func isRequest(_ consumer: String) -> Bool { consumer.hasSuffix(again) || consumer.hasSuffix(forgetting) }

  /// The consumer, and whatever it is that is delivered to it again.
  static func consumers(of consumer: String) -> [String] { [consumer, consumer + again, consumer + forgetting] }

  /// Forgets positions and states of a consumer.
  public static func forget(_ consumer: String, in store: HealthStore) async throws {
    for name in consumers(of: consumer) {
      try await store.removeConsumer(name)
      try await store.deliveries.remove(name)
    }
  }
}
