import Foundation
import HealthModel
import HealthStore
import TestSupport

/// A store in its own directory.
struct StoreFixture {
  let directory: TemporaryDirectory
  let store: HealthStore

  init() throws {
    directory = try TemporaryDirectory()
    store = try HealthStore(directory: directory.path)
  }

  /// Opens another instance for the same directory, which acts like another process.
  func again() throws -> HealthStore {
    try HealthStore(directory: directory.path)
  }
}

/// The content on which two stores must agree that have seen the same changes.
struct Contents: Equatable {
  var samples: Set<Data> = []
  var deleted: Set<SampleReference> = []
}

extension HealthStore {
  /// Returns the whole feed after `anchor`, read page by page.
  func allChanges(
    since anchor: Anchor = .zero, filter: SampleFilter = .everything, limit: Int = 1000
  ) async throws -> [Change] {
    var changes: [Change] = []
    var anchor = anchor
    while true {
      let page = try await self.feed.changes(since: anchor, filter: filter, limit: limit)
      changes += page.changes
      anchor = page.anchor
      if page.isLast { return changes }
    }
  }

  func contents() async throws -> Contents {
    var contents = Contents()
    for change in try await allChanges() {
      switch change {
      case .added(let sample): contents.samples.insert(try sample.text())
      case .deleted(let tombstone): contents.deleted.insert(tombstone.sample)
      }
    }
    return contents
  }

  /// Applies a change from another store's feed.
  func take(_ change: Change) async throws {
    switch change {
    case .added(let sample): try await apply(ChangeBatch(additions: [sample]))
    case .deleted(let tombstone): try await apply(ChangeBatch(deletions: [tombstone]))
    }
  }

  func add(_ samples: Sample...) async throws {
    try await apply(ChangeBatch(additions: samples))
  }

  func delete(_ samples: Sample...) async throws {
    try await apply(ChangeBatch(deletions: samples.map { $0.tombstone() }))
  }
}

extension Sample {
  func tombstone(deleted: Timestamp = Timestamp(seconds: 1_720_000_000)) -> Tombstone {
    Tombstone(of: self, deleted: deleted)
  }
}

extension Change {
  var reference: SampleReference {
    switch self {
    case .added(let sample): sample.reference
    case .deleted(let tombstone): tombstone.sample
    }
  }
}
