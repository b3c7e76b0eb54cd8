import Foundation
import GRDB
import HealthModel
import OperatingSystem
import PeerProtocol
import Testing

@testable import PeerTrust

@Suite("Clients are known by their certificates")
struct ClientIdentityTests {
  private let directory: TemporaryDirectory
  private let now = Date(timeIntervalSince1970: 1_800_000_000)

  init() throws { directory = try TemporaryDirectory() }

  private func fingerprint(_ byte: UInt8) throws -> Fingerprint {
    try #require(Fingerprint(bytes: [UInt8](repeating: byte, count: 32)))
  }

  private func hash(_ byte: UInt8) throws -> TokenHash {
    try #require(BearerToken(bytes: [UInt8](repeating: byte, count: 32))).hash
  }

  private func client(
    _ certificate: Fingerprint?, token: UInt8, scope: SampleFilter? = nil, rotation: RotationStatement? = nil
  ) throws -> PairedClient {
    try PairedClient(
      id: .ofClient(showing: certificate), name: "laptop", tokenHash: hash(token), certificateFingerprint: certificate,
      rotation: rotation, method: .spake2, pairedAt: now, expiresAt: now + 30 * 86_400, scope: scope)
  }

  private func open() async throws -> PeerRegistry { try await PeerRegistry.open(in: directory.url) }

  @Test("another certificate is another client, with what its own window states; the same one keeps its row")
  func certificates() async throws {
    let registry = try await open()
    let narrow = SampleFilter(types: [SampleType("a")], earliest: Timestamp(microseconds: now.microseconds))
    try await registry.addClient(client(fingerprint(1), token: 1, scope: narrow))
    try await registry.addClient(client(fingerprint(2), token: 2))
    try await registry.addClient(client(nil, token: 3))
    try await registry.addClient(client(nil, token: 4))
    try await registry.addClient(client(fingerprint(1), token: 5))
    #expect(try await registry.clients().count == 4)
    let same = try await registry.client(tokenHash: hash(5), certificate: fingerprint(1), now: now).get()
    #expect(same.scope == narrow)
    #expect(try same.id == PeerID(certificate: fingerprint(1)))
    let other = try await registry.client(tokenHash: hash(2), certificate: fingerprint(2), now: now).get()
    #expect(other.scope == .everything)
    #expect(try await registry.client(tokenHash: hash(1), certificate: fingerprint(1), now: now) == .failure(.unknown))
  }

  @Test("a row of another certificate is never taken, whatever its id")
  func takenID() async throws {
    let registry = try await open()
    let id = PeerID(certificate: try fingerprint(1))
    try await registry.addClient(
      PairedClient(id: id, name: "older", tokenHash: hash(9), method: .spake2, pairedAt: now, expiresAt: now + 60))
    await #expect(throws: PeerRegistryError.self) { try await registry.addClient(client(fingerprint(1), token: 1)) }
    #expect(try await registry.clients().map(\.name) == ["older"])
    #expect(try await registry.client(tokenHash: hash(9), now: now).get().id == id)
  }

  // MARK: Replaced certificates

  private struct Rotated {
    let old: PeerIdentity
    let new: PeerIdentity
    let statement: RotationStatement
  }

  private func rotated() async throws -> Rotated {
    let home = try TemporaryDirectory()
    let old = try await IdentityStore.loadOrCreate(in: home.url)
    let new = try await IdentityStore.rotate(in: home.url)
    return Rotated(old: old, new: new, statement: try #require(new.rotation))
  }

  @Test("with the old key's signature a token moves to the new certificate, once, with its name and scope")
  func follows() async throws {
    let registry = try await open()
    let machine = try await rotated()
    let (old, new) = (machine.old.fingerprint, machine.new.fingerprint)
    let narrow = SampleFilter(types: [SampleType("a")])
    try await registry.addClient(client(old, token: 1, scope: narrow))
    let followed = try await registry.follow(machine.statement, to: new, tokenHash: hash(1), now: now)
    let (client, former) = try #require(followed)
    #expect(client.id == PeerID(certificate: new))
    #expect(former == PeerID(certificate: old))
    #expect(client.name == "laptop" && client.scope == narrow)
    #expect(try await registry.client(tokenHash: hash(1), certificate: new, now: now).get() == client)
    let refused = try await registry.client(tokenHash: hash(1), certificate: old, now: now)
    #expect(refused == .failure(.wrongCertificate(of: client.id)))
    #expect(try await registry.clients().map(\.formerID) == [former])
    #expect(try await registry.follow(machine.statement, to: new, tokenHash: hash(1), now: now) == nil)
  }

  @Test("a client becomes another once a day, so that it sheds nothing that is counted by client")
  func followsRarely() async throws {
    let registry = try await open()
    let home = try TemporaryDirectory()
    let first = try await IdentityStore.loadOrCreate(in: home.url)
    let second = try await IdentityStore.rotate(in: home.url)
    let third = try await IdentityStore.rotate(in: home.url)
    try await registry.addClient(client(first.fingerprint, token: 1))
    let (toSecond, toThird) = (try #require(second.rotation), try #require(third.rotation))
    #expect(try await registry.follow(toSecond, to: second.fingerprint, tokenHash: hash(1), now: now) != nil)
    func follows(after seconds: Double) async throws -> Bool {
      try await registry.follow(toThird, to: third.fingerprint, tokenHash: hash(1), now: now + seconds) != nil
    }
    #expect(try await !follows(after: 86_399))
    #expect(try await follows(after: 86_401))
  }

  @Test("nothing moves without the right signature, token and certificate, nor what was revoked or has expired")
  func refusals() async throws {
    let registry = try await open()
    let machine = try await rotated()
    let other = try await rotated()
    let new = machine.new.fingerprint
    try await registry.addClient(client(machine.old.fingerprint, token: 1))
    func moves(
      _ statement: RotationStatement, _ certificate: Fingerprint, token: UInt8 = 1, after seconds: Double = 0
    ) async throws -> Bool {
      try await registry.follow(statement, to: certificate, tokenHash: hash(token), now: now + seconds) != nil
    }
    // Whoever saw the statement has another certificate.
    #expect(try await !moves(machine.statement, other.new.fingerprint))
    #expect(try await !moves(other.statement, other.new.fingerprint))
    #expect(try await !moves(machine.statement, new, token: 2))
    #expect(try await !moves(machine.statement, new, after: 31 * 86_400))
    let certificate = machine.old.certificateDER
    let foreign = try #require(
      RotationStatement(certificateDER: certificate, signature: other.statement.signature))
    #expect(try await !moves(foreign, new))
    for index in machine.statement.signature.indices {
      var signature = machine.statement.signature
      signature[index] ^= 1
      let changed = try #require(RotationStatement(certificateDER: certificate, signature: signature))
      #expect(!changed.isSigned(for: new), "byte \(index)")
    }
    try await registry.revoke(id: PeerID(certificate: machine.old.fingerprint), now: now)
    #expect(try await !moves(machine.statement, new))
    #expect(try await registry.clients().map(\.certificateFingerprint) == [machine.old.fingerprint])
  }

  @Test("a client that pairs with a new certificate keeps its row and its limits, also one that was revoked")
  func pairsAgain() async throws {
    let registry = try await open()
    let machine = try await rotated()
    let (old, new) = (machine.old.fingerprint, machine.new.fingerprint)
    let narrow = SampleFilter(types: [SampleType("a")])
    try await registry.addClient(client(old, token: 1, scope: narrow))
    try await registry.revoke(id: PeerID(certificate: old), now: now)
    let former = try await registry.addClient(client(new, token: 2, rotation: machine.statement))
    #expect(former == PeerID(certificate: old))
    let record = try #require(try await registry.clients().first)
    #expect(try await registry.clients().count == 1)
    #expect(record.scope == narrow && record.revoked == nil)
    #expect(record.id == PeerID(certificate: new))
    // Not twice, and not for whoever has another certificate than the one that was signed.
    #expect(try await registry.addClient(client(new, token: 3, rotation: machine.statement)) == nil)
    let stranger = try await rotated().old.fingerprint
    #expect(try await registry.addClient(client(stranger, token: 4, rotation: machine.statement)) == nil)
    #expect(try await registry.clients().count == 2)
  }
}
