import Foundation
import GRDB
import HealthModel
import PeerProtocol

/// That two machines use one identity.
public struct TwinSighting: Hashable, Sendable {
  /// How a machine is paired with this one.
  public enum Role: String, Sendable {
    /// It reads here.
    case client
    /// It is pulled from.
    case server
  }

  public var role: Role
  public var peer: PeerID
  /// Where the two were last, the present one first; the same for two behind one address.
  public var addresses: [String]
  /// When the second of them was met again.
  public var seen: Date
}

/// Which machines were met behind each identity.
extension PeerRegistry {
  /// Marks of one peer that are remembered.
  private static let mostMarks = 8
  /// For how long the same is not said again, in seconds.
  private static let silence: TimeInterval = 86_400

  /// Notes that a peer was met, and as which machine.
  ///
  /// - Parameter address: where, for people.
  /// - Returns: that it is two, where that is news.
  public func note(
    _ mark: MachineMark, of peer: PeerID, as role: TwinSighting.Role, at address: String, now: Date = Date()
  ) async throws -> TwinSighting? {
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
      let sighting = TwinSighting(role: role, peer: peer, addresses: [address, last["address"]], seen: now)
      try db.execute(
        sql: """
          INSERT INTO twin(role, peer, first, second, seen) VALUES (?, ?, ?, ?, ?)
          ON CONFLICT DO UPDATE SET first = excluded.first, second = excluded.second, seen = excluded.seen
          """, arguments: arguments + [address, last["address"] as String, now.microseconds])
      if let told, abs(now.timeIntervalSince(Date(microseconds: told))) < Self.silence { return nil }
      return sighting
    }
  }

  /// Those that were met lately.
  ///
  /// - Parameter start: from then on.
  public func twins(since start: Date) async throws -> [TwinSighting] {
    try await read { db in
      try Row.fetchAll(db, sql: "SELECT * FROM twin WHERE seen >= ? ORDER BY seen", arguments: [start.microseconds])
        .compactMap { row in
          guard let role = TwinSighting.Role(rawValue: row["role"]), let peer = PeerID(hex: row["peer"] as String)
          else {
            return nil
          }
          return TwinSighting(
            role: role, peer: peer, addresses: [row["first"], row["second"]], seen: Date(microseconds: row["seen"]))
        }
    }
  }
}
