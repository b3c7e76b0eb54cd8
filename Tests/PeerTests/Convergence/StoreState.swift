import Foundation
import GRDB
import HealthModel
import TestSupport

@testable import HealthStore

/// The identity of a sample. Unlike `==` on the text of its type, it distinguishes two Unicode spellings of `é`.
struct SampleKey: Hashable, CustomStringConvertible {
  let type: Data
  let start: Int64
  let uuid: Data

  init(type: Data, start: Int64, uuid: Data) {
    self.type = type
    self.start = start
    self.uuid = uuid
  }

  init(_ reference: SampleReference) {
    self.init(
      type: Data(reference.type.rawValue.utf8), start: reference.start.microseconds, uuid: reference.uuid.bytes)
  }

  var description: String {
    "\(String(decoding: type, as: UTF8.self).debugDescription) \(start) \(UUID(bytes: uuid)?.uuidString ?? "")"
  }
}

/// The samples that a store holds and those that it knows to be deleted: a two-phase set.
struct StoreState: Equatable {
  var live: Set<SampleKey> = []
  var tombstones: Set<SampleKey> = []

  /// Joins the states of two stores, as after a complete exchange.
  mutating func join(_ other: StoreState) {
    tombstones.formUnion(other.tombstones)
    live = live.union(other.live).subtracting(tombstones)
  }

  /// Returns the first differences from `other`, except for the keys in `except`.
  func differences(to other: StoreState, except: Set<SampleKey> = []) -> [String] {
    let kinds: [(String, Set<SampleKey>)] = [
      ("lacks", other.live.subtracting(live)), ("should not have", live.subtracting(other.live)),
      ("lacks the tombstone of", other.tombstones.subtracting(tombstones)),
      ("should not have the tombstone of", tombstones.subtracting(other.tombstones)),
    ]
    return kinds.flatMap { text, keys in
      keys.subtracting(except).map { "\(text) \($0)" }.sorted().prefix(3)
    }
  }
}

extension HealthStore {
  func state() async throws -> StoreState {
    try await read { db in
      func keys(_ table: String) throws -> Set<SampleKey> {
        let rows = try Row.fetchCursor(
          db,
          sql: "SELECT CAST(identifier AS BLOB), start, uuid FROM \(table) AS the JOIN type ON type.id = the.type")
        var keys: Set<SampleKey> = []
        while let row = try rows.next() { keys.insert(SampleKey(type: row[0], start: row[1], uuid: row[2])) }
        return keys
      }
      return StoreState(live: try keys("sample"), tombstones: try keys("tombstone"))
    }
  }

  /// Returns the samples as JSON with sorted keys, read from the feed.
  ///
  /// - Throws: ``Failure`` if the feed contains anything twice, or the counts differ.
  func samplesOfFeed() async throws -> [SampleKey: Data] {
    var live: [SampleKey: Data] = [:]
    var tombstones: Set<SampleKey> = []
    var anchor = Anchor.zero
    while true {
      let page = try await feed.changes(since: anchor, limit: 500)
      for change in page.changes {
        switch change {
        case .added(let sample):
          let key = SampleKey(sample.reference)
          guard live.updateValue(try sample.text(), forKey: key) == nil else { throw Failure("\(key) came twice") }
        case .deleted(let tombstone):
          let key = SampleKey(tombstone.sample)
          guard tombstones.insert(key).inserted else { throw Failure("\(key) was deleted twice") }
        }
      }
      anchor = page.anchor
      if page.isLast { break }
    }
    guard try await state() == StoreState(live: Set(live.keys), tombstones: tombstones),
      tombstones.isDisjoint(with: live.keys)
    else { throw Failure("the feed says something else than the store holds") }
    let counted = try await total()
    guard counted == live.count else { throw Failure("\(counted) samples are counted, and \(live.count) are there") }
    return live
  }
}

/// An error that says why a history failed.
struct Failure: Error, CustomStringConvertible {
  var description: String

  init(_ description: String) {
    self.description = description
  }
}
