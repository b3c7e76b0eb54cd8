import GRDB
import TestSupport
import Testing

@testable import HealthStore

@Suite struct DurabilityTests {
  /// GRDB sets NORMAL on a pool's writer, which may lose the last commits in a power failure.
  @Test func aCommitIsOnTheDiskBeforeItsNumberIsToldToAnyone() async throws {
    let fixture = try StoreFixture()
    for store in [fixture.store, try fixture.again()] {
      let level = try await store.pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
      #expect(level == 2)
    }
  }
}
