import GRDB
import Testing

@testable import PeerTrust

@Suite struct RegistryDurabilityTests {
  /// GRDB sets NORMAL on a pool's writer, with which a pairing could be lost in a power failure after both sides had
  /// confirmed it.
  @Test func aPairingIsOnTheDiskBeforeItsClientIsTold() async throws {
    let directory = try TemporaryDirectory()
    let registry = try await PeerRegistry.open(in: directory.url)
    let level = try await registry.pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
    #expect(level == 2)
  }
}
