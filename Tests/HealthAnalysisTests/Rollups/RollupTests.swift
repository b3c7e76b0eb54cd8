import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

@testable import HealthAnalysis

/// What is kept is what the samples say, whatever has happened.
@Suite struct RollupTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func expectSame(_ history: inout RollupHistory, _ store: HealthStore, _ rollups: Rollups, _ seed: UInt64) async throws {
    let query = try history.query()
    let kept = try await rollups.statistics(query)
    let computed = try await query.computed(from: store)
    let zone = query.zone.name
    let bounds = "\(query.start?.iso8601 ?? "-") to \(query.end?.iso8601 ?? "-")"
    #expect(
      kept.isNearly(computed),
      "seed \(seed): \(query.type.shortName) by \(query.size), \(zone), \(bounds): \(kept.difference(from: computed))")
  }

  @Test(arguments: 0..<24 as Range<UInt64>)
  func randomHistoriesGiveTheSameNumbers(seed: UInt64) async throws {
    var history = RollupHistory(directory: directory.path, seed: seed)
    let store = try HealthStore(directory: directory.path)
    let (one, other) = (Rollups(of: store), Rollups(of: store))
    for step in 0..<30 {
      try await history.step(store)
      if step % 3 == 0 {
        for _ in 0..<6 { try await expectSame(&history, store, step % 2 == 0 ? one : other, seed) }
      }
    }
  }

  /// A store that is put back from a copy, and goes on from there.
  @Test(arguments: 0..<6 as Range<UInt64>)
  func aStoreThatGoesBackTakesItsNumbersAlong(seed: UInt64) async throws {
    var history = RollupHistory(directory: directory.path, seed: seed)
    let files = ["store.sqlite", "store.sqlite-wal"]
    let copy = try TemporaryDirectory()
    func move(from: String, to: String) {
      for file in files {
        try? FileManager.default.removeItem(atPath: to + "/" + file)
        try? FileManager.default.copyItem(atPath: from + "/" + file, toPath: to + "/" + file)
      }
    }
    func open(_ body: (HealthStore) async throws -> Void) async throws {
      try await body(try HealthStore(directory: directory.path))
    }
    try await open { store in
      for _ in 0..<8 { try await history.step(store) }
      try await Rollups(of: store).refresh()
    }
    move(from: directory.path, to: copy.path)
    try await open { store in
      for _ in 0..<8 { try await history.step(store) }
      try await Rollups(of: store).refresh()
    }
    try? FileManager.default.removeItem(atPath: directory.path + "/store.sqlite-shm")
    move(from: copy.path, to: directory.path)
    try await open { store in
      let rollups = Rollups(of: store)
      for _ in 0..<8 { try await expectSame(&history, store, rollups, seed) }
      for _ in 0..<6 { try await history.step(store) }
      for _ in 0..<8 { try await expectSame(&history, store, rollups, seed) }
    }
  }
}
