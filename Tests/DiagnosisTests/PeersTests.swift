import Foundation
import PeerProtocol
import Testing

@testable import Diagnosis
@testable import PeerTrust

@Suite("Paired machines")
struct PeersTests {
  private let home: TemporaryHome
  private let now = Date(timeIntervalSince1970: 1_800_000_000)
  private let day: TimeInterval = 86_400

  init() throws {
    home = try TemporaryHome()
  }

  private func addClient(
    _ byte: UInt8, _ name: String, expiresIn seconds: TimeInterval, certificate: UInt8? = nil
  ) async throws {
    let registry = try await PeerRegistry.open(in: home.url)
    try await registry.addClient(
      PairedClient(
        id: try #require(PeerID(bytes: [UInt8](repeating: byte, count: 16))), name: name,
        tokenHash: try #require(BearerToken(bytes: [UInt8](repeating: byte, count: 32))).hash,
        certificateFingerprint: certificate.flatMap { Fingerprint(bytes: [UInt8](repeating: $0, count: 32)) },
        method: .spake2, pairedAt: now - 10 * day, expiresAt: now + seconds))
  }

  private func addServer(_ byte: UInt8, _ name: String, expiresIn seconds: TimeInterval?) async throws {
    let registry = try await PeerRegistry.open(in: home.url)
    try await registry.addServer(
      ServerRecord(
        id: try #require(PeerID(bytes: [UInt8](repeating: byte, count: 16))), name: name,
        fingerprint: try #require(Fingerprint(bytes: [UInt8](repeating: byte, count: 32))),
        credential: BearerCredential(try #require(BearerToken(bytes: [UInt8](repeating: byte, count: 32)))),
        expires: seconds.map { now + $0 }))
  }

  private func findings() async -> [Finding] {
    await PeersCheck(subject: .test(home: home.path, now: now)).findings()
  }

  @Test("nobody, and everybody for long")
  func healthy() async throws {
    #expect(await findings().ids == ["peers.none"])
    try await addClient(1, "laptop", expiresIn: 20 * day, certificate: 1)
    try await addServer(2, "studio", expiresIn: nil)
    let found = await findings()
    #expect(found.ids == ["peers.ok"])
    #expect(found[0].text.contains("1 may read here, 1 pulled from"))
  }

  @Test("soon and already expired, on both sides, with the command for this machine")
  func expiry() async throws {
    try await addClient(1, "laptop", expiresIn: 6 * day, certificate: 1)
    try await addClient(2, "attic", expiresIn: -day, certificate: 1)
    try await addServer(3, "my studio", expiresIn: -1)
    try await addServer(4, "barn", expiresIn: 6 * day)
    let found = await findings()
    #expect(
      found.ids == ["peers.client.ending", "peers.client.expired", "peers.server.expired", "peers.server.ending"])
    #expect(found.areHealthy)
    #expect(found.first("peers.server.expired")?.remedy == "hpeer pair 'my studio'")
    #expect(found.first("peers.server.ending")?.remedy == "hpeer pull barn")
    #expect(found.first("peers.client.expired")?.remedy?.contains("hpeer revoke 02020202") == true)
  }

  @Test("tokens without a certificate are noted, revoked ones are not")
  func unbound() async throws {
    try await addClient(1, "laptop", expiresIn: 20 * day)
    let found = await findings()
    #expect(found.ids == ["peers.ok", "peers.unbound"])
    #expect(found[1].severity == .note && found[1].text.contains("laptop"))
    try await PeerRegistry.open(in: home.url).revoke(matching: "laptop")
    #expect(await findings().ids == ["peers.none"])
  }

  @Test("a damaged list stands in the way")
  func damaged() async throws {
    try home.write("peers.sqlite", String(repeating: "not a database ", count: 100))
    let found = await findings()
    #expect(found.ids == ["peers.damaged"] && !found.areHealthy)
  }
}
