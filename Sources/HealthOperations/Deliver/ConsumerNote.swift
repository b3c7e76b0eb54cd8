import Foundation
import HealthStore

/// A value that the store keeps for a consumer, such as a destination, beside the consumer's position.
package protocol ConsumerNote: Codable {
  /// The prefix of the activity that holds the note, different for each type.
  static var notePrefix: String { get }
}

extension ConsumerNote {
  private static func activity(_ consumer: String) -> String { "\(notePrefix):\(consumer)" }

  /// Returns the most recently kept note of a consumer, or `nil` if there is none or if it can't be read.
  package static func last(of consumer: String, in store: HealthStore) async throws -> Self? {
    guard let mark = try await store.activities.state(of: activity(consumer))?.mark else { return nil }
    return try? JSONDecoder().decode(Self.self, from: Data(mark.utf8))
  }

  /// Stores this note in place of the consumer's earlier one.
  package func keep(of consumer: String, in store: HealthStore) async throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let mark = String(decoding: try encoder.encode(self), as: UTF8.self)
    try await store.activities.setMark(mark, Self.activity(consumer))
  }

  /// Removes the consumer's note, if there is one.
  package static func forget(of consumer: String, in store: HealthStore) async throws {
    try await store.activities.remove(activity(consumer))
  }
}
