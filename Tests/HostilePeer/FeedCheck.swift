import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import TestSupport

/// The samples and tombstones in a store.
struct StoreContent: Sendable {
  /// The samples as JSON text, because NaN doesn't equal itself.
  var samples: [SampleReference: Data] = [:]
  var tombstones: Set<SampleReference> = []

  init(of store: HealthStore) async throws {
    var anchor = Anchor.zero
    while true {
      let page = try await store.feed.changes(since: anchor, limit: 10_000)
      for change in page.changes {
        switch change {
        case .added(let sample):
          guard samples.updateValue(try sample.text(), forKey: sample.reference) == nil else {
            throw ClientTrials.Violation("a sample is there twice: \(sample.uuid)")
          }
        case .deleted(let tombstone): tombstones.insert(tombstone.sample)
        }
      }
      if page.isLast { return }
      anchor = page.anchor
    }
  }
}

/// A check of a store after a pull against its content before and the changes that were sent.
struct FeedCheck {
  var pages: [HostileFeed.Page]
  var before: StoreContent
  var after: StoreContent
  /// The token from which the client's next pull continues.
  var position: String?
  /// The tokens that the client used during the trial.
  var asked: [String]

  private struct Batch {
    var page: Int
    var token: String
    var samples: [Sample]
    var tombstones: [SampleReference]
  }

  func run() throws {
    let batches = try sentBatches()
    var sent: [SampleReference: Set<Data>] = [:]
    for sample in batches.flatMap(\.samples) { sent[sample.reference, default: []].insert(try sample.text()) }
    let tombstones = Set(batches.flatMap(\.tombstones))
    for (reference, text) in after.samples where before.samples[reference] != text {
      guard sent[reference]?.contains(text) == true else {
        throw ClientTrials.Violation("a sample that nobody sent: \(String(decoding: text, as: UTF8.self))")
      }
    }
    for reference in before.samples.keys where after.samples[reference] == nil {
      guard tombstones.contains(reference) else { throw ClientTrials.Violation("a sample was lost: \(reference)") }
    }
    for reference in after.tombstones where !before.tombstones.contains(reference) {
      guard tombstones.contains(reference) else { throw ClientTrials.Violation("nobody deleted \(reference)") }
    }
    if let position, !batches.contains(where: { $0.token == position }) {
      throw ClientTrials.Violation("a position that nobody sent: \(position)")
    }
    for token in Set(asked + [position].compactMap(\.self)) { try requireAll(upTo: token, batches) }
  }

  private func sentBatches() throws -> [Batch] {
    var batches: [Batch] = []
    for (number, page) in pages.enumerated() {
      var decoder = ChangeFeedDecoder(page.format)
      page.body.withUnsafeBytes { decoder.receive($0) }
      while let batch = try? decoder.next() {
        let expander = try ChangeExpander(batch.changes)
        batches.append(
          Batch(
            page: number, token: batch.token, samples: try batch.changes.samples.map(expander.sample),
            tombstones: batch.changes.tombstones.map { expander.tombstone($0).sample }))
      }
    }
    return batches
  }

  /// Requires that the store has everything that its answer contained up to `token`.
  private func requireAll(upTo token: String, _ batches: [Batch]) throws {
    let places = batches.indices.filter { batches[$0].token == token }
    // A token that was sent twice says nothing.
    guard places.count == 1, let place = places.first else { return }
    for batch in batches[...place] where batch.page == batches[place].page {
      for sample in batch.samples where !sample.uuid.isDerived {
        guard holds(sample.reference) || after.tombstones.contains(sample.reference) else {
          throw ClientTrials.Violation("a sample before the position \(token) is missing: \(sample.uuid)")
        }
      }
    }
  }

  /// Returns whether a sample with HealthKit's UUID is stored. The store keeps only one of several copies that start
  /// within a second of each other.
  private func holds(_ reference: SampleReference) -> Bool {
    if after.samples[reference] != nil { return true }
    return after.samples.keys.contains { other in
      let (distance, overflow) = other.start.microseconds.subtractingReportingOverflow(reference.start.microseconds)
      return other.type == reference.type && other.uuid == reference.uuid && !overflow
        && distance.magnitude <= 1_000_000
    }
  }
}
