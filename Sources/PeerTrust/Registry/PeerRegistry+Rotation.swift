import Foundation
import GRDB
import PeerProtocol

/// Clients whose certificate has been replaced.
extension PeerRegistry {
  /// Moves a client to its new certificate. The client shows its old token and a statement about the new certificate,
  /// signed with the old certificate's key; the old certificate is no longer accepted afterwards.
  ///
  /// At most once a day, so that a client cannot escape per-client counts and limits by changing its identity
  /// repeatedly.
  ///
  /// - Parameter certificate: the fingerprint of the certificate that the client showed in this connection's
  ///   handshake.
  /// - Returns: the client and its former id; nil if the token or the statement is not accepted.
  public func follow(
    _ statement: RotationStatement, to certificate: Fingerprint, tokenHash: TokenHash, now: Date = Date()
  ) async throws -> (client: ClientAuthorization, formerID: PeerID)? {
    let old = statement.replaced
    return try await write { db in
      let select = "SELECT * FROM client WHERE tokenHash = ? AND certificate = ? AND isBound"
      let arguments: StatementArguments = [Data(tokenHash.bytes), Data(old.bytes)]
      guard let found = try Row.fetchOne(db, sql: select, arguments: arguments) else { return nil }
      let (before, last) = (try ClientRecord(found), found["rotated"] as Int64?)
      let isRecent = last.map { $0 <= now.microseconds && now.microseconds < $0 + Self.rotationPause } ?? false
      guard !isRecent, before.tokenHash == tokenHash, before.revoked == nil, before.expires > now,
        try Self.move(before.id, by: statement, to: certificate, now, db),
        let row = try Row.fetchOne(
          db, sql: "SELECT * FROM client WHERE tokenHash = ?", arguments: [Data(tokenHash.bytes)])
      else { return nil }
      return (ClientAuthorization(try ClientRecord(row), isLocked: try Self.lockedSince(db) != nil), before.id)
    }
  }

  /// Minimum time between two rotations of one client, in microseconds: a day.
  private static let rotationPause: Int64 = 86_400_000_000

  /// Moves a client that pairs again with a new certificate; its proof of the code stands in for the token. Revoked
  /// clients are moved, too: the window was opened to let the client read again, and its scope stays.
  static func follow(_ client: PairedClient, _ db: Database) throws -> PeerID? {
    guard let statement = client.rotation, let certificate = client.certificateFingerprint,
      let row = try Row.fetchOne(
        db, sql: "SELECT id FROM client WHERE certificate = ? AND isBound", arguments: [Data(statement.replaced.bytes)])
    else { return nil }
    let id = try row.peerID()
    return try move(id, by: statement, to: certificate, client.pairedAt, db) ? id : nil
  }

  /// Moves a client's row to a certificate. Returns false if the statement is not signed or the certificate has a
  /// row.
  private static func move(
    _ id: PeerID, by statement: RotationStatement, to certificate: Fingerprint, _ now: Date, _ db: Database
  ) throws -> Bool {
    // Checked only after the row was found, so that the old certificate is known to come from a handshake here.
    guard statement.isSigned(for: certificate) else { return false }
    try db.execute(
      sql: """
        UPDATE client SET id = :new, formerID = id, certificate = :certificate, rotated = :now
        WHERE id = :id AND NOT EXISTS (SELECT 1 FROM client WHERE id = :new)
        """,
      arguments: [
        "new": PeerID(certificate: certificate).hex, "certificate": Data(certificate.bytes), "id": id.hex,
        "now": now.microseconds,
      ])
    return db.changesCount > 0
  }
}
