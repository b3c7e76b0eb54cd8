import Foundation
import GRDB
import PeerProtocol

/// Whose records paired machines keep.
extension PeerRegistry {
  /// How many different claims of one pairing a server compares: enough for whoever corrects a date of birth, and too
  /// few to guess one.
  public static let personClaimLimit = 3

  /// Counts a claim, on the disk before it is compared. One that was counted before is not counted again, for it has
  /// the same answer.
  ///
  /// - Returns: how many claims this pairing has made; `nil` for one too many, which is not to be compared.
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

  /// What is agreed on with a server; `nil` before anything is.
  public func personAgreement(with server: PeerID) async throws -> PersonAgreement? {
    try await read { db in
      try Row.fetchOne(db, sql: "SELECT claim, mark FROM personAgreement WHERE server = ?", arguments: [server.hex]).map
      {
        PersonAgreement(claim: try $0.required("claim"), mark: try $0.optional("mark"))
      }
    }
  }

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

/// That this machine may pull from a server, as far as whose record it is goes: until either side's person is another.
public struct PersonAgreement: Hashable, Sendable {
  /// A hash of what this machine claimed; empty where it knows no person.
  public var claim: Data
  /// What the server calls its person; `nil` where it did not say.
  public var mark: String?

  /// - Parameter claim: ``PersonClaim/digest``, or empty.
  public init(claim: Data, mark: String?) {
    self.claim = claim
    self.mark = mark
  }
}
