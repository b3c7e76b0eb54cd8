import Cryptography
import Foundation
import GRDB
import Synchronization

/// A stretch of a store's change numbers, known by a random name.
///
/// A store that was put back from a copy counts on from an older number and gives numbers out again that peers have met
/// already, for other changes. A position is therefore a number and the epoch that covers it:
///
/// **Two stores that come from one file and agree on the epoch that covers a number have the same changes up to that
/// number.** It holds because whoever gives out numbers begins a new epoch, in the same transaction, unless the last
/// epoch began while it had the file open (see ``EpochKeeper``): an epoch that is in a copy is never continued by
/// somebody who opened that copy. Only tombstones may be forgotten in one of them, and then no earlier position is left
/// on which the two agree (see ``HealthStore/Feed/pruneTombstones(before:)``).
///
/// An import that is undone ends the epochs of its numbers, and those numbers are not given out again.
///
/// Not seen: a machine that is put back together with its memory, and a file that was exchanged under a process that
/// has it open, by less than that process has seen itself.
public struct Epoch: Hashable, Sendable, Codable {
  /// Random, so it says nothing of which epoch was first.
  public var id: UInt64

  /// An epoch as it was kept or sent. Only a store begins one.
  public init(id: UInt64) {
    self.id = id
  }
}

extension Epoch {
  /// More than a machine has in years of hourly imports; each is some 20 bytes.
  static let maximumCount = 10_000

  /// Of the changes that were numbered before there were epochs. From the store's id, so that two copies of such a
  /// store agree.
  static func first(ofStore id: Data) -> Epoch {
    let digest = SHA256.hash(data: Data("hpeer epoch".utf8) + id)
    return Epoch(id: digest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
  }

  static func covering(_ change: Int64, _ db: Database) throws -> Epoch {
    try fetch(db, "SELECT id FROM epoch WHERE first <= ? ORDER BY first DESC LIMIT 1", [change])
  }

  /// Whether this is the epoch of a change number, and that number was given out.
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
    // Without a new name for the older half, a number of a lost line could pass for one of this.
    let cut = try Int64.fetchOne(
      db, sql: "SELECT first FROM epoch ORDER BY first DESC LIMIT 1 OFFSET ?", arguments: [maximumCount / 2])
    if let cut { try rename(before: cut, db) }
  }

  /// Makes one epoch of all before `change`, which nobody has a position in: such a reader starts over, and has positions
  /// in it as it reads on.
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

/// A position in a store's sequence of changes: everything up to and including this number has been seen.
public struct Anchor: Hashable, Sendable, Comparable {
  /// A number of the store's counter, from 1; 0 before the first change.
  public var change: Int64

  /// Any number is taken. One that is no position of a store is for that store to refuse, with
  /// ``StoreError/anchorOutOfRange``.
  public init(change: Int64) {
    self.change = change
  }

  /// Before the first change.
  public static let zero = Anchor(change: 0)

  public static func < (lhs: Self, rhs: Self) -> Bool {
    lhs.change < rhs.change
  }
}

/// Sees to it that every number which one ``HealthStore`` gives out lies in an epoch that began while it had the file
/// open. Whose write began it does not matter, so that two processes that write in turns share one.
final class EpochKeeper: Sendable {
  private struct State {
    /// Began before the file was opened, perhaps before it was copied.
    var foreign: Epoch
    /// The highest counter that was seen.
    var highest: Int64
  }

  private let state: Mutex<State>

  init(_ db: Database) throws {
    state = Mutex(
      State(foreign: try Epoch.last(db), highest: try Schema.counter(db)))
  }

  /// To be told of every counter that is read, so that one that went back is noticed.
  func saw(_ counter: Int64) {
    state.withLock { $0.highest = max($0.highest, counter) }
  }

  /// Within the transaction that gives out `numbers`. One that is rolled back does no harm: the next begins an epoch.
  func cover(_ numbers: ClosedRange<Int64>, _ db: Database) throws {
    let last = try Epoch.last(db)
    let mayContinue = state.withLock { state in
      // Somebody put an older copy in place of the file's content.
      if numbers.lowerBound <= state.highest { state.foreign = last }
      state.highest = numbers.upperBound
      return last != state.foreign
    }
    if !mayContinue { try Epoch.begin(at: numbers.lowerBound, db) }
  }
}
