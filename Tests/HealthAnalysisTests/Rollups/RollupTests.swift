import Foundation
import GRDB
import HealthModel
import HealthStore
import Synchronization
import TestSupport
import Testing

@testable import HealthAnalysis

/// Tests that stored statistics always equal those computed from the samples.
@Suite struct RollupTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private func expectSame(_ history: inout RollupHistory, _ store: HealthStore, _ rollups: Rollups, _ seed: UInt64)
    async throws
  {
    let query = try history.query()
    let kept = try await rollups.statistics(query)
    let computed = try await query.computed(from: store)
    let zone = query.zone.name
    let bounds = "\(query.start?.iso8601 ?? "-") to \(query.end?.iso8601 ?? "-")"
    #expect(
      kept.isNearly(computed),
      "seed \(seed): \(query.type.shortName) by \(query.size), \(zone), \(bounds): \(kept.difference(from: computed))")
    for type in [query.type, nil] {
      let listed = try await rollups.sources(of: type)
      let expected = try await SourceSurvey.sources(of: type, in: store)
      #expect(listed == expected, "seed \(seed): sources of \(type?.shortName ?? "all types")")
    }
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

  /// A store is restored from a copy and continues from there.
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

  /// An undone import leaves no tombstones, and samples that it deleted return.
  @Test(arguments: 0..<4 as Range<UInt64>)
  func anUndoneImportIsInNoNumber(seed: UInt64) async throws {
    var history = RollupHistory(directory: directory.path, seed: seed)
    let store = try HealthStore(directory: directory.path)
    let rollups = Rollups(of: store)
    for _ in 0..<6 { try await history.step(store) }
    try await rollups.refresh()
    try importExport(history.samples(40), into: store)
    for _ in 0..<4 { try await expectSame(&history, store, rollups, seed) }
    let outcome = try await store.imports.undoLast()
    guard case .undone = outcome else {
      Issue.record("\(outcome)")
      return
    }
    for _ in 0..<8 { try await expectSame(&history, store, rollups, seed) }
    for _ in 0..<4 { try await history.step(store) }
    for _ in 0..<8 { try await expectSame(&history, store, rollups, seed) }
  }

  /// Imports samples. The import is complete when this returns.
  private func importExport(_ samples: [Sample], into store: HealthStore) throws {
    var coder = ChangeCoder()
    for sample in samples { try coder.add(sample) }
    try ImportWriter(store, .init(name: "export.zip")).write(coder.changes)
  }

  private enum Damage: CaseIterable {
    case gone, garbage, empty, otherVersion, cells, evidence, history
  }

  /// A damaged file is recreated, and its values are right in every case.
  @Test(arguments: Damage.allCases)
  private func aDamagedFileIsMadeAnew(damage: Damage) async throws {
    var history = RollupHistory(directory: directory.path, seed: 7)
    let store = try HealthStore(directory: directory.path)
    for _ in 0..<12 { try await history.step(store) }
    try await Rollups(of: store).refresh()
    let path = directory.path + "/statistics.sqlite"
    func execute(_ sql: String) throws {
      let queue = try DatabaseQueue(path: path)
      try queue.write { try $0.execute(sql: sql) }
      try queue.close()
    }
    switch damage {
    case .gone: try FileManager.default.removeItem(atPath: path)
    case .garbage: try Data(repeating: 0x5a, count: 50_000).write(to: URL(fileURLWithPath: path))
    case .empty: try Data().write(to: URL(fileURLWithPath: path))
    case .otherVersion: try execute("PRAGMA user_version = 99")
    case .cells:
      try execute("UPDATE hours SET cells = substr(cells, 1, 5); UPDATE quarters SET cells = x'ff'")
    case .evidence: try execute("UPDATE type SET ranking = '{'")
    case .history: try execute("UPDATE history SET json = 'no'")
    }
    for _ in 0..<12 { try await expectSame(&history, store, Rollups(of: store), 7) }
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
  }

  @Test func aStoreThatCannotBeWrittenIsComputed() async throws {
    var history = RollupHistory(directory: directory.path, seed: 3)
    var store: HealthStore? = try HealthStore(directory: directory.path)
    for _ in 0..<6 { try await history.step(try #require(store)) }
    store = nil
    let looked = try HealthStore(readOnlyIn: directory.path)
    for _ in 0..<4 { try await expectSame(&history, looked, Rollups(of: looked), 3) }
    #expect(!FileManager.default.fileExists(atPath: directory.path + "/statistics.sqlite"))
  }

  @Test func whatIsSaidOfTheWorkIsWhatThereWas() async throws {
    var history = RollupHistory(directory: directory.path, seed: 5)
    let store = try HealthStore(directory: directory.path)
    try await store.apply(ChangeBatch(additions: history.samples(30)))
    let told = Mutex(0)
    let rollups = Rollups(of: store) { samples in told.withLock { $0 += samples } }
    try await rollups.refresh()
    #expect(told.withLock { $0 } >= 30)
    let first = told.withLock { $0 }
    try await rollups.refresh()
    #expect(told.withLock { $0 } == first)
  }
}
