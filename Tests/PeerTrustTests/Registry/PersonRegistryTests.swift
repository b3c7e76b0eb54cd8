import Foundation
import HealthModel
import PeerProtocol
import Testing

@testable import PeerTrust

@Suite struct PersonRegistryTests {
  private let directory: TemporaryDirectory
  private let registry: PeerRegistry
  private let token = BearerToken.random()

  init() async throws {
    directory = try TemporaryDirectory()
    registry = try await PeerRegistry.open(in: directory.url)
  }

  private func claim(_ year: Int, _ token: BearerToken? = nil) throws -> PersonClaim {
    let person = Person(characteristics: [Person.Trait.dateOfBirth.rawValue: "\(year)-05-17"])
    return try #require(PersonKey((token ?? self.token).hash).claim(of: person))
  }

  private func pair(_ token: BearerToken) async throws {
    let id = try #require(PeerID(bytes: [UInt8](repeating: 7, count: 16)))
    try await registry.addClient(
      PairedClient(
        id: id, name: "laptop", tokenHash: token.hash, method: .spake2, pairedAt: Date(), expiresAt: Date() + 3600))
  }

  @Test func threeDifferentClaimsOfAPairingAreCountedForGood() async throws {
    try await pair(token)
    for (year, count) in [(1986, 1), (1987, 2), (1986, 2), (1988, 3), (1987, 3)] {
      #expect(try await registry.countPersonClaim(claim(year), token: token.hash) == count)
    }
    let again = try await PeerRegistry.open(in: directory.url)
    for year in 1989..<2000 { #expect(try await again.countPersonClaim(claim(year), token: token.hash) == nil) }
    #expect(try await again.countPersonClaim(claim(1988), token: token.hash) == 3)
    let other = BearerToken.random()
    #expect(try await again.countPersonClaim(claim(1989, other), token: other.hash) == 1)
  }

  /// The limit holds for any number of concurrent attempts.
  @Test func aCrowdHasNoMoreThanThree() async throws {
    try await pair(token)
    let counted = try await withThrowingTaskGroup(of: Int?.self) { group in
      for year in 1900..<1950 {
        let claim = try claim(year)
        group.addTask { [registry, token] in try await registry.countPersonClaim(claim, token: token.hash) }
      }
      return try await group.reduce(into: 0) { $0 += $1 == nil ? 0 : 1 }
    }
    #expect(counted == PeerRegistry.personClaimLimit)
  }

  @Test func anotherPairingBeginsAnewAndLeavesNothing() async throws {
    try await pair(token)
    for year in 1986..<1989 { _ = try await registry.countPersonClaim(claim(year), token: token.hash) }
    let next = BearerToken.random()
    try await pair(next)
    #expect(try await registry.countPersonClaim(claim(1986, next), token: next.hash) == 1)
    // The old pairing's are gone with it; its token is not valid any more.
    #expect(try await registry.countPersonClaim(claim(1990), token: token.hash) == 1)
  }

  @Test func anAgreementIsOfOnePairing() async throws {
    let id = try #require(PeerID(bytes: [UInt8](repeating: 9, count: 16)))
    let agreement = PersonAgreement(claim: try claim(1986).digest, mark: "mark")
    await #expect(throws: PeerRegistryError.notFound(id.hex)) { try await registry.agree(agreement, with: id) }
    let fingerprint = try #require(Fingerprint(bytes: [UInt8](repeating: 1, count: 32)))
    let server = ServerRecord(id: id, name: "studio", fingerprint: fingerprint, credential: BearerCredential(token))
    try await registry.addServer(server)
    #expect(try await registry.personAgreement(with: id) == nil)
    try await registry.agree(agreement, with: id)
    #expect(try await registry.personAgreement(with: id) == agreement)
    try await registry.agree(PersonAgreement(claim: Data(), mark: nil), with: id)
    #expect(try await registry.personAgreement(with: id) == PersonAgreement(claim: Data(), mark: nil))
    try await registry.addServer(server)
    #expect(try await registry.personAgreement(with: id) == nil)
    try await registry.agree(agreement, with: id)
    #expect(try await registry.removeServer(id: id))
    #expect(try await registry.personAgreement(with: id) == nil)
  }
}
