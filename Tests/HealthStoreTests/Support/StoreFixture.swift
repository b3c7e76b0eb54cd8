import Foundation
import HealthModel
import HealthStore
import TestSupport

/// A store in a directory of its own.
struct StoreFixture {
  let directory: TemporaryDirectory
  let store: HealthStore

  init() throws {
    directory = try TemporaryDirectory()
    store = try HealthStore(directory: directory.path)
  }

  /// Another instance on the same directory, which meets the first as another process would.
  func again() throws -> HealthStore {
    try HealthStore(directory: directory.path)
  }
}

/// What two stores that have seen the same changes must agree on.
struct Contents: Equatable {
  var samples: Set<Data> = []
  var deleted: Set<SampleReference> = []
}

extension HealthStore {
  /// The whole feed after `anchor`, page by page.
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

  /// Applies a change of another store's feed.
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
