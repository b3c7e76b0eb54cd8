import Foundation
import HealthModel
import HealthStore
import Testing
import TestSupport

/// A store of the version that showed a workout twice, as it is and as HealthSync calls it, shows it once when it is opened.
@Suite(.enabled(if: SQLiteShell.isAvailable), .timeLimit(.minutes(5))) struct WorkoutMigrationTests {
  private let file: StoreFile
  private let exported: Sample
  private let other: Sample

  init() throws {
    file = try StoreFile()
    let record = ExportedSample(type: .workout)
    var (exported, other) = (record.sample(), record.original(offset: 0))
    exported.payload = .workout(Workout(activityType: .value(35), duration: 10))
    other.payload = .workout(Workout(activityType: .value(3000), duration: 10))
    (self.exported, self.other) = (exported, other)
  }

  /// Has the store show both, as the rule was.
  ///
  /// - Parameter mirror: of the consumer `mirror`, who is told of both.
  private func makeOld(_ mirror: inout Mirror) async throws -> Position {
    var position = Position()
    do {
      let store = try file.open()
      try store.importExport([exported])
      var coder = ChangeCoder()
      try coder.add(other, road: .healthSync)
      try await store.apply([coder.changes])
      try await SQLiteShell.run("DELETE FROM visibility", on: file.path)
      try await mirror.catchUp(try await store.consumer("mirror"))
      #expect(Set(mirror.samples.keys) == [exported.reference, other.reference])
      let page = try await store.feed.changes(since: .zero, limit: 1_000)
      position = Position(anchor: page.anchor, epoch: page.epoch)
    }
    try await file.waitUntilClosed()
    try await SQLiteShell.run("DELETE FROM grdb_migrations WHERE identifier LIKE 'workoutsOf%'", on: file.path)
    return position
  }

  private func findings() async throws -> [StoreFinding] {
    try await HealthStore.checkIntegrity(directory: file.directory.path).findings
  }

  @Test func consumersAreToldOfWhatBecomesHidden() async throws {
    var mirror = Mirror()
    let position = try await makeOld(&mirror)
    // It is sound before, too.
    #expect(try await findings() == [])
    let store = try file.open()
    #expect(try await store.samples.page(of: .workout, limit: 10).map(\.uuid) == [exported.uuid])
    #expect(try await findings() == [])
    try await mirror.catchUp(try await store.consumer("mirror"))
    #expect(Set(mirror.samples.keys) == [exported.reference])
    #expect((mirror.repetitions, mirror.startedOver) == (0, 0))
    // Both are held as before, and who pulls has nothing new.
    #expect(try await store.contents().samples.count == 2)
    #expect(
      try await store.feed.changes(since: position.anchor, epoch: position.epoch, limit: 1_000).changes.isEmpty)
  }

  /// Each gives the number of the hiding out by itself.
  @Test func aPositionInOneOfTwoCopiesIsNotTakenForOneInTheOther() async throws {
    var mirror = Mirror()
    _ = try await makeOld(&mirror)
    let copy = try await file.copy()
    func position() async throws -> Position {
      let page = try await file.open().feed.changes(since: .zero, limit: 1_000)
      return Position(anchor: page.anchor, epoch: page.epoch)
    }
    let first = try await position()
    try await file.restore(copy)
    #expect(try await position().anchor == first.anchor)
    let store = try file.open()
    await #expect(throws: StoreError.anchorOutOfRange) {
      try await store.feed.changes(since: first.anchor, epoch: first.epoch, limit: 1_000)
    }
  }
}
