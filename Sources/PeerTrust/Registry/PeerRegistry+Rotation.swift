import Foundation
import GRDB
import PeerProtocol

/// Clients whose certificate has been replaced.
extension PeerRegistry {
  /// Lets a client in that shows its old token with a new certificate, and that the old certificate's key has signed the
  /// new one: its row moves to the new certificate and is no more to be had with the old one. At most once a day: what is
  /// counted and limited by client must not be shed by becoming another again and again.
  ///
  /// - Parameter certificate: of the certificate that the client showed in this connection's handshake.
  /// - Returns: the client, and what its id was; nil if the token is of no use here, or not with this statement.
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

  /// The same of a client that pairs, whose proof of the code stands for the token. What was revoked is moved, too: that
  /// it may read again is what the window was opened for, and how much stays.
  static func follow(_ client: PairedClient, _ db: Database) throws -> PeerID? {
    guard let statement = client.rotation, let certificate = client.certificateFingerprint,
      let row = try Row.fetchOne(
        db, sql: "SELECT id FROM client WHERE certificate = ? AND isBound", arguments: [Data(statement.replaced.bytes)])
    else { return nil }
    let id = try row.peerID()
    return try move(id, by: statement, to: certificate, client.pairedAt, db) ? id : nil
  }

  /// False unless the statement is signed, and also where the new certificate has a row already.
  private static func move(
    _ id: PeerID, by statement: RotationStatement, to certificate: Fingerprint, _ now: Date, _ db: Database
  ) throws -> Bool {
    // Not before the row was found: only then the certificate is one that was in a handshake here.
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
