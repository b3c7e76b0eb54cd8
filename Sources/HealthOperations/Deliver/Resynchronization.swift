import Foundation
import HealthModel
import HealthStore

/// Has everything, or everything from some time on, delivered again with the next delivery.
public enum Resynchronization {
  private static let suffix = ":again"

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
    if let start {
      try await store.removeConsumer(consumer + suffix)
      try await store.consumer(consumer + suffix, filter: SampleFilter(earliest: start))
    } else {
      try await store.removeConsumer(consumer + suffix)
      try await store.removeConsumer(consumer)
      // Positions of destinations are there from the beginning, so that deletions are kept for them.
      try await store.consumer(consumer)
    }
  }

  static func pending(_ consumer: String, in store: HealthStore) async throws -> [Part] {
    try await store.consumers().filter { $0.name == consumer + suffix }
      .map { Part(consumer: $0.name, filter: SampleFilter(earliest: $0.filter.earliest)) }
  }

  /// The consumer, and whatever it is that is delivered to it again.
  static func consumers(of consumer: String) -> [String] { [consumer, consumer + suffix] }

  /// Forgets positions and states of a consumer.
  public static func forget(_ consumer: String, in store: HealthStore) async throws {
    for name in consumers(of: consumer) {
      try await store.removeConsumer(name)
      try await store.deliveries.remove(name)
    }
  }
}
