import Foundation
import GRDB
import PeerProtocol

/// The person claims and agreements of paired machines.
extension PeerRegistry {
  /// The number of different claims that a server compares per pairing: enough to correct a date of birth, too few to
  /// guess one.
  public static let personClaimLimit = 3

  /// Counts a claim, on disk before it is compared. A repeated claim is not counted again because its answer is the
  /// same.
  ///
  /// - Returns: the number of claims that this pairing has made; `nil` if the limit is exceeded, and the claim must
  ///   not be compared.
  public func countPersonClaim(_ claim: PersonClaim, token: TokenHash) async throws -> Int? {
    let (hash, token) = (claim.digest, Data(token.bytes))
    return try await write { db in
      let claims = try Data.fetchSet(db, sql: "SELECT claim FROM personClaim WHERE tokenHash = ?", arguments: [token])
      if claims.contains(hash) { return claims.count }
      guard claims.count < Self.personClaimLimit else { return nil }
      try db.execute(sql: "INSERT INTO personClaim(tokenHash, claim) VALUES (?, ?)", arguments: [token, hash])
      return claims.count + 1
    }
  }

  /// Returns the person agreement with a server, or `nil` if there is none yet.
  public func personAgreement(with server: PeerID) async throws -> PersonAgreement? {
    try await read { db in
      try Row.fetchOne(db, sql: "SELECT claim, mark FROM personAgreement WHERE server = ?", arguments: [server.hex]).map
      {
        PersonAgreement(claim: try $0.required("claim"), mark: try $0.optional("mark"))
      }
    }
  }

  /// Stores the person agreement with a server.
  /// - Throws: `notFound`.
  public func agree(_ agreement: PersonAgreement, with server: PeerID) async throws {
    try await write { db in
      try db.execute(
        sql: """
          INSERT OR REPLACE INTO personAgreement(server, claim, mark) SELECT id, ?, ? FROM server WHERE id = ?
          """, arguments: [agreement.claim, agreement.mark, server.hex])
      if db.changesCount == 0 { throw PeerRegistryError.notFound(server.hex) }
    }
  }
}

/// An agreement that this machine and a server hold the same person's record. It is valid until either side's person
/// changes.
public struct PersonAgreement: Hashable, Sendable {
  /// A hash of this machine's claim; empty if this machine knows no person.
  public var claim: Data
  /// The server's identifier for its person, or `nil` if the server did not send one.
  public var mark: String?

  /// Creates an agreement.
  ///
  /// - Parameter claim: ``PersonClaim/digest``, or empty.
  public init(claim: Data, mark: String?) {
    self.claim = claim
    self.mark = mark
  }
}
