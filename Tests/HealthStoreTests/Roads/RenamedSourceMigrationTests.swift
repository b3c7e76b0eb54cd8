import Foundation
import HealthModel
import HealthStore
import TestSupport
import Testing

/// A store of the version that showed what a renamed source has under each of its names shows it once when it is opened, and
/// nothing less.
@Suite(.enabled(if: SQLiteShell.isAvailable), .timeLimit(.minutes(2))) struct RenamedSourceMigrationTests {
  private let file: StoreFile
  private let exported = (0..<3).map { ExportedSample(minute: $0).sample() }
  private let told: [Sample]

  init() throws {
    file = try StoreFile()
    told = (0..<3).map { ExportedSample(minute: $0, source: "Ultra").original() }
  }

  private func shown(_ store: HealthStore) async throws -> Set<UUID> {
    try await Set(store.samples.page(of: exported[0].type, limit: 10).map(\.uuid))
  }

  private func findings() async throws -> [StoreFinding] {
    try await HealthStore.checkIntegrity(directory: file.directory.path).findings
  }

  @Test func whatOneNameWasDeletedOfStaysUnderTheOther() async throws {
    do {
      let store = try file.open()
      try store.importExport(exported)
      for sample in told { try await store.add(sample) }
      #expect(try await shown(store) == Set(exported.map(\.uuid)))
      // The one of one name, as long as both were shown, and the one of the other.
      try await store.delete(exported[1], told[2])
      #expect(try await shown(store) == [exported[0].uuid])
      // As the rule was.
      try await SQLiteShell.run("DELETE FROM visibility", on: file.path)
      #expect(try await shown(store).count == 4)
    }
    try await file.waitUntilClosed()
    try await SQLiteShell.run("DELETE FROM grdb_migrations WHERE identifier = 'renamedSources'", on: file.path)
    // It is sound before, too.
    #expect(try await findings() == [])
    let store = try file.open()
    #expect(try await shown(store) == [exported[0].uuid, told[1].uuid, exported[2].uuid])
    #expect(try await findings() == [])
    // What is deleted from now on is gone under both.
    try await store.delete(told[0])
    #expect(try await shown(store) == [told[1].uuid, exported[2].uuid])
  }
}
