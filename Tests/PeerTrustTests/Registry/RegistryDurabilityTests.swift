import GRDB
import Testing

@testable import PeerTrust

@Suite struct RegistryDurabilityTests {
  /// GRDB sets NORMAL on a pool's writer: a pairing that both sides believe in could be gone after a power failure.
  @Test func aPairingIsOnTheDiskBeforeItsClientIsTold() async throws {
    let directory = try TemporaryDirectory()
    let registry = try await PeerRegistry.open(in: directory.url)
    let level = try await registry.pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
    #expect(level == 2)
  }
}
