import Foundation
import GRDB
import HealthModel
import PeerProtocol

/// An observation that two machines use the same identity.
public struct ClonedIdentity: Hashable, Sendable {
  /// The role in which a peer is paired with this machine.
  public enum Role: String, Sendable {
    /// The peer reads from this machine.
    case client
    /// This machine pulls from the peer.
    case server
  }

  public var role: Role
  public var peer: PeerID
  /// The last known addresses of the two machines, the current one first. They are equal behind one NAT address.
  public var addresses: [String]
  /// The date at which the second machine was seen again.
  public var seen: Date
}

/// The machine marks seen for each identity, used to detect cloned identities.
extension PeerRegistry {
  /// The number of most recent marks kept per peer.
  private static let mostMarks = 8
  /// The time for which the same pair of machines is not reported again, in seconds.
  private static let silence: TimeInterval = 86_400

  /// Records the machine behind a peer's latest contact.
  ///
  /// - Parameter address: the peer's address, for display.
  /// - Returns: a sighting if a second machine uses the identity and this has not been reported recently.
  public func note(
    _ mark: MachineMark, of peer: PeerID, as role: ClonedIdentity.Role, at address: String, now: Date = Date()
  ) async throws -> ClonedIdentity? {
    try await write { db in
      let arguments: StatementArguments = [role.rawValue, peer.hex]
      let last = try Row.fetchOne(
        db, sql: "SELECT mark, address FROM machine WHERE role = ? AND peer = ? ORDER BY turn DESC LIMIT 1",
        arguments: arguments)
      let isKnown = try Bool.fetchOne(
        db, sql: "SELECT 1 FROM machine WHERE role = ? AND peer = ? AND mark = ?", arguments: arguments + [mark.text])
      let turn = try Int64.fetchOne(
        db, sql: "SELECT COALESCE(MAX(turn), 0) + 1 FROM machine WHERE role = ? AND peer = ?", arguments: arguments)
      try db.execute(
        sql: """
          INSERT INTO machine(role, peer, mark, turn, address) VALUES (?, ?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET turn = excluded.turn, address = excluded.address
          """, arguments: arguments + [mark.text, turn, address.shortened(toBytes: 100)])
      try db.execute(
        sql: """
          DELETE FROM machine WHERE role = ?1 AND peer = ?2 AND mark NOT IN (
            SELECT mark FROM machine WHERE role = ?1 AND peer = ?2 ORDER BY turn DESC LIMIT \(Self.mostMarks))
          """, arguments: arguments)
      guard let last, isKnown == true, last["mark"] != mark.text else { return nil }
      let told = try Int64.fetchOne(db, sql: "SELECT seen FROM twin WHERE role = ? AND peer = ?", arguments: arguments)
      let sighting = ClonedIdentity(role: role, peer: peer, addresses: [address, last["address"]], seen: now)
      try db.execute(
        sql: """
          INSERT INTO twin(role, peer, first, second, seen) VALUES (?, ?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET first = excluded.first, second = excluded.second, seen = excluded.seen
          """, arguments: arguments + [address, last["address"] as String, now.microseconds])
      if let told, abs(now.timeIntervalSince(Date(microseconds: told))) < Self.silence { return nil }
      return sighting
    }
  }

  /// Returns the twin sightings since a date, oldest first.
  ///
  /// - Parameter start: the earliest date.
  public func twins(since start: Date) async throws -> [ClonedIdentity] {
    try await read { db in
      try Row.fetchAll(db, sql: "SELECT * FROM twin WHERE seen >= ? ORDER BY seen", arguments: [start.microseconds])
        .compactMap { row in
          guard let role = ClonedIdentity.Role(rawValue: row["role"]), let peer = PeerID(hex: row["peer"] as String)
          else {
            return nil
          }
          return ClonedIdentity(
            role: role, peer: peer, addresses: [row["first"], row["second"]], seen: Date(microseconds: row["seen"]))
        }
    }
  }
}
