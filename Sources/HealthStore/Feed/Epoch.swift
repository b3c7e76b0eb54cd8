import Cryptography
import Foundation
import GRDB
import Synchronization

/// A range of a store's change numbers, identified by a random number.
///
/// A store that was restored from a copy continues from an older number, and assigns numbers again that peers have
/// already seen for other changes. A position is therefore a number and the epoch that covers it:
///
/// **Two stores that come from one file and agree on the epoch that covers a number have the same changes up to that
/// number.** This holds because a process that assigns numbers begins a new epoch in the same transaction, unless the
/// last epoch began while the process had the file open (see ``EpochKeeper``): an epoch in a copy is never continued
/// by a process that opened that copy. The only difference can be tombstones that were pruned in one of the stores,
/// and then the stores agree on no earlier position (see ``HealthStore/Feed/pruneTombstones(before:)``).
///
/// Undoing an import ends the epochs of its numbers, and those numbers are not assigned again.
///
/// Two cases are not detected: a machine that is restored together with its memory, and a file that is replaced under
/// a process that has it open, by a file that lacks less than that process has seen itself.
public struct Epoch: Hashable, Sendable, Codable {
  /// The random number. It does not reveal the order of epochs.
  public var id: UInt64

  /// Creates an epoch that was saved or sent. Only a store begins new epochs.
  public init(id: UInt64) {
    self.id = id
  }
}

extension Epoch {
  /// The maximum number of epochs that a store keeps. Years of hourly imports need fewer; each takes some 20 bytes.
  static let maximumCount = 10_000

  /// Returns the epoch of the changes that were numbered before epochs existed. It is derived from the store's
  /// identifier, so that two copies of such a store agree.
  static func first(ofStore id: Data) -> Epoch {
    let digest = SHA256.hash(data: Data("hpeer epoch".utf8) + id)
    return Epoch(id: digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
  }

  static func covering(_ change: Int64, _ db: Database) throws -> Epoch {
    try fetch(db, "SELECT id FROM epoch WHERE first <= ? ORDER BY first DESC LIMIT 1", [change])
  }

  /// Returns whether this epoch covers a change number that was assigned.
  func covers(_ change: Int64, _ db: Database) throws -> Bool {
    try change <= Schema.counter(db) && Epoch.covering(change, db) == self
  }

  static func last(_ db: Database) throws -> Epoch {
    try fetch(db, "SELECT id FROM epoch ORDER BY first DESC LIMIT 1", [])
  }

  /// Begins a new epoch at `change`.
  static func begin(at change: Int64, _ db: Database) throws {
    try insert(Epoch(id: .random(in: .min ... .max)), at: change, db)
    guard try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM epoch") ?? 0 > maximumCount else { return }
    // Without a new identifier for the older half, a number of a lost history could pass for a number of this one.
    let cut = try Int64.fetchOne(
      db, sql: "SELECT first FROM epoch ORDER BY first DESC LIMIT 1 OFFSET ?", arguments: [maximumCount / 2])
    if let cut { try rename(before: cut, db) }
  }

  /// Merges all epochs before `change` into one new epoch, in which no reader has a position: a reader from before
  /// starts over, and gets positions in it as it reads again.
  static func rename(before change: Int64, _ db: Database) throws {
    let next = try covering(change, db)
    try db.execute(sql: "DELETE FROM epoch WHERE first <= ?", arguments: [change])
    try insert(next, at: change, db)
    try insert(Epoch(id: .random(in: .min ... .max)), at: 0, db)
  }

  static func insert(_ epoch: Epoch, at change: Int64, _ db: Database) throws {
    try db.execute(
      sql: "INSERT INTO epoch(first, id) VALUES (?, ?)",
      arguments: [change, withUnsafeBytes(of: epoch.id.bigEndian) { Data($0) }])
  }

  private static func fetch(_ db: Database, _ sql: String, _ arguments: StatementArguments) throws -> Epoch {
    guard let bytes = try Data.fetchOne(db, sql: sql, arguments: arguments), bytes.count == 8 else {
      throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the store has no epoch")
    }
    return Epoch(id: bytes.reduce(0) { $0 << 8 | UInt64($1) })
  }
}

/// A position in a store's sequence of changes. Everything up to and including its number has been seen.
public struct Anchor: Hashable, Sendable, Comparable {
  /// The change number, from 1, or 0 before the first change.
  public var change: Int64

  /// Creates an anchor from any number. A store rejects a number that is not one of its positions with
  /// ``StoreError/anchorOutOfRange``.
  public init(change: Int64) {
    self.change = change
  }

  /// The position before the first change.
  public static let zero = Anchor(change: 0)

  public static func < (lhs: Self, rhs: Self) -> Bool {
    lhs.change < rhs.change
  }
}

/// A guard which ensures that every number that a ``HealthStore`` assigns lies in an epoch that began while it had
/// the file open. Any process may have begun that epoch, so two processes that write in turns share one.
final class EpochKeeper: Sendable {
  private struct State {
    /// The last epoch that began before the file was opened, perhaps before the file was copied.
    var foreign: Epoch
    /// The highest counter that was seen.
    var highest: Int64
  }

  private let state: Mutex<State>

  init(_ db: Database) throws {
    state = Mutex(
      State(foreign: try Epoch.last(db), highest: try Schema.counter(db)))
  }

  /// Records a counter that was read, so that a counter that has gone back is noticed.
  func saw(_ counter: Int64) {
    state.withLock { $0.highest = max($0.highest, counter) }
  }

  /// Begins a new epoch for `numbers` if necessary, within the transaction that assigns them. A rollback does no
  /// harm: the next call begins an epoch.
  func cover(_ numbers: ClosedRange<Int64>, _ db: Database) throws {
    let last = try Epoch.last(db)
    let mayContinue = state.withLock { state in
      // An older copy has replaced the file's content.
      if numbers.lowerBound <= state.highest { state.foreign = last }
      state.highest = numbers.upperBound
      return last != state.foreign
    }
    if !mayContinue { try Epoch.begin(at: numbers.lowerBound, db) }
  }
}
