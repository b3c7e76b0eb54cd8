import Foundation
import HealthModel
import HealthStore
import Testing

/// The complete contents of a store, independent of the order in which they arrived.
struct StoreContents: Equatable {
  var samples: [SampleReference: Sample] = [:]
  var deleted: Set<SampleReference> = []
}

extension Host {
  /// Reads the whole feed, whose size must agree with the store's own counts.
  func everything() async throws -> StoreContents {
    let store = try HealthStore(directory: home, create: false)
    var contents = StoreContents()
    var anchor = Anchor.zero
    while true {
      let page = try await store.feed.changes(since: anchor, limit: 10_000)
      for change in page.changes {
        switch change {
        case .added(let sample):
          #expect(contents.samples.updateValue(sample, forKey: sample.reference) == nil, "twice: \(sample.uuid)")
        case .deleted(let tombstone):
          #expect(contents.deleted.insert(tombstone.sample).inserted, "deleted twice: \(tombstone.sample.uuid)")
        }
      }
      anchor = page.anchor
      if page.isLast { break }
    }
    #expect(contents.deleted.isDisjoint(with: contents.samples.keys))
    #expect(try await store.samples.typeCounts().reduce(0) { $0 + $1.samples } == contents.samples.count)
    return contents
  }

  /// Expects that nothing is missing, duplicated, changed or damaged, and that the audit chain is intact.
  func expect(_ expected: StoreContents, after what: some CustomStringConvertible) async throws {
    let contents = try await everything()
    if contents != expected {
      let missing = Set(expected.samples.keys).subtracting(contents.samples.keys).count
      let extra = Set(contents.samples.keys).subtracting(expected.samples.keys).count
      Issue.record(
        "\(what): \(missing) samples missing, \(extra) too many, \(expected.deleted.count - contents.deleted.count) deletions missing"
      )
    }
    try await expectIntegrity("\(what)")
  }

  /// Expects an undamaged store with an intact audit log.
  func expectIntegrity(_ what: String) async throws {
    // Opening it brings back what a killed process left in the write-ahead log.
    let store = try HealthStore(directory: home, create: false)
    let audit = try await store.audit.verify()
    guard case .intact = audit else {
      Issue.record("\(what): \(audit)")
      return
    }
    let integrity = try await HealthStore.checkIntegrity(directory: home)
    #expect(integrity.isSound, "\(what): \(integrity.findings)")
  }

  /// Returns a copy for inspection, so that the state left by a killed process isn't changed.
  func look() throws -> Host {
    try copy(URL(fileURLWithPath: home).lastPathComponent + "-look")
  }

  /// Returns a copy of the home with another name.
  func copy(_ name: String) throws -> Host {
    let copy = scratch.host(name)
    try? FileManager.default.removeItem(atPath: copy.home)
    try FileManager.default.copyItem(atPath: home, toPath: copy.home)
    return copy
  }

  /// Returns the audit log's events, oldest first.
  func auditEvents() async throws -> [(event: String, detail: [String: String])] {
    let store = try HealthStore(directory: home, create: false)
    return try await store.audit.records().map { ($0.event, $0.detail) }
  }
}
