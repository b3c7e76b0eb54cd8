import Foundation
import GRDB
import HealthModel

/// The apps that may send to this machine's inbox.
extension PeerRegistry {
  /// The number of most recent answers that are remembered per sender.
  public static let inboxAnswerLimit = 1000
  /// The number of most recent bodies whose arrival is remembered per sender.
  public static let inboxBodyLimit = 20_000
  /// The interval within which uses of a secret are written only once, in seconds.
  private static let seenGranularity: TimeInterval = 60

  /// Adds a sender, or replaces the secret, types and person of the sender with that name, even a revoked one.
  ///
  /// - Parameters:
  ///   - name: see ``InboxSender/isName(_:)``.
  ///   - types: the types that it may send; `nil` for all.
  ///   - person: the person of this record, whom the owner has declared to be the phone's user.
  public func addInboxSender(
    _ name: String, secret: BearerToken, types: Set<SampleType>?, person: Person, now: Date = Date()
  ) async throws {
    let path = pool.path
    try await write { db in
      guard InboxSender.isName(name) else { throw PeerRegistryError.damaged(path: path, reason: "a sender's name") }
      try db.execute(
        sql: """
          INSERT OR REPLACE INTO inboxSender (name, secretHash, types, person, created) VALUES (?, ?, ?, ?, ?)
          """,
        arguments: [
          name, Data(secret.hash.bytes), try SampleFilter(types: types).typesJSON(), try person.json(),
          now.microseconds,
        ])
      // The sender may deliver its bodies again; they keep their arrival dates. Its names are counted anew.
      try db.execute(sql: "UPDATE inboxBody SET answer = '' WHERE sender = ?", arguments: [name])
      try db.execute(sql: "DELETE FROM inboxName WHERE sender = ?", arguments: [name])
    }
  }

  /// Returns all senders, including revoked ones, ordered by name.
  public func inboxSenders() async throws -> [InboxSender] { try await read(Self.inboxSenders) }

  /// Returns the sender with this secret, unless it is revoked. Takes the same time for every secret.
  public func inboxSender(showing secret: BearerToken) async throws -> InboxSender? {
    let hash = secret.hash
    return try await read { db in
      var found: InboxSender?
      for sender in try Self.inboxSenders(db) where sender.secretHash == hash && sender.revoked == nil {
        found = sender
      }
      return found
    }
  }

  /// Records that a sender was seen, at most once a minute.
  public func touchInboxSender(_ sender: InboxSender, now: Date = Date()) async throws {
    if let lastSeen = sender.lastSeen, abs(now.timeIntervalSince(lastSeen)) < Self.seenGranularity { return }
    try await write { db in
      try db.execute(
        sql: "UPDATE inboxSender SET lastSeen = ? WHERE name = ?", arguments: [now.microseconds, sender.name])
    }
  }

  /// Revokes a sender. Returns false if there is none of that name or it is already revoked.
  @discardableResult
  public func revokeInboxSender(_ name: String, now: Date = Date()) async throws -> Bool {
    try await write { db in
      try db.execute(
        sql: "UPDATE inboxSender SET revoked = ? WHERE name = ? AND revoked IS NULL",
        arguments: [now.microseconds, name])
      let isRevoked = db.changesCount > 0
      try db.execute(sql: "DELETE FROM inboxBody WHERE sender = ?", arguments: [name])
      return isRevoked
    }
  }

  // MARK: Bodies

  /// Returns the answer that a sender got for a body with this SHA-256; `nil` if the body is new or no longer
  /// remembered.
  public func inboxAnswer(to body: Data, of sender: String) async throws -> String? {
    try await read { db in
      try String.fetchOne(
        db, sql: "SELECT answer FROM inboxBody WHERE sender = ? AND hash = ? AND answer <> ''",
        arguments: [sender, body])
    }
  }

  /// Returns the first arrival of a body with this SHA-256; `nil` if the body is new or no longer remembered.
  public func inboxArrival(of body: Data, from sender: String) async throws -> Timestamp? {
    try await read { db in
      try Int64.fetchOne(
        db, sql: "SELECT received FROM inboxBody WHERE sender = ? AND hash = ?", arguments: [sender, body]
      ).map { Timestamp(microseconds: $0) }
    }
  }

  /// Returns the arrival of each sender's newest remembered body, keyed by sender name.
  public func inboxLastReceived() async throws -> [String: Timestamp] {
    try await read { db in
      let rows = try Row.fetchAll(db, sql: "SELECT sender, MAX(received) AS received FROM inboxBody GROUP BY sender")
      return Dictionary(
        try rows.map { (try $0.required("sender") as String, Timestamp(microseconds: try $0.required("received"))) }
      ) { $1 }
    }
  }

  /// Records the arrival of a body and forgets the oldest beyond the limit. A known body keeps its first arrival.
  ///
  /// - Parameter limit: the number of bodies remembered per sender.
  public func noteInboxBody(
    _ body: Data, of sender: String, at now: Timestamp, limit: Int = PeerRegistry.inboxBodyLimit
  ) async throws {
    try await write { db in
      try db.execute(
        sql: "INSERT OR IGNORE INTO inboxBody (sender, hash, received, answer) VALUES (?, ?, ?, '')",
        arguments: [sender, body, now.microseconds])
      guard
        try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM inboxBody WHERE sender = ?", arguments: [sender]) ?? 0 > limit
      else { return }
      try db.execute(
        sql: """
          DELETE FROM inboxBody WHERE sender = :sender AND hash IN (
            SELECT hash FROM inboxBody WHERE sender = :sender ORDER BY received DESC LIMIT -1 OFFSET :limit)
          """, arguments: ["sender": sender, "limit": limit])
    }
  }

  /// Stores the answer to a body and forgets the oldest answers beyond the limit. A body whose answer is forgotten is
  /// read again when it is sent again, which adds nothing.
  ///
  /// - Parameter limit: the number of answers remembered per sender.
  public func keepInboxAnswer(
    _ answer: String, to body: Data, of sender: String, limit: Int = PeerRegistry.inboxAnswerLimit, now: Date = Date()
  ) async throws {
    try await write { db in
      try db.execute(
        sql: """
          INSERT INTO inboxBody (sender, hash, received, answer) VALUES (?, ?, ?, ?)
          ON CONFLICT (sender, hash) DO UPDATE SET answer = excluded.answer
          """,
        arguments: [sender, body, now.microseconds, answer])
      try db.execute(
        sql: """
          UPDATE inboxBody SET answer = '' WHERE sender = :sender AND hash IN (
            SELECT hash FROM inboxBody WHERE sender = :sender AND answer <> ''
            ORDER BY received DESC LIMIT -1 OFFSET :limit)
          """,
        arguments: ["sender": sender, "limit": limit])
    }
  }

  /// Counts the names in a sender's body.
  ///
  /// - Throws: ``InboxNamesExceeded``, and counts nothing, if the sender would exceed `limit`.
  public func countInboxNames(_ names: Set<String>, of sender: String, limit: Int) async throws {
    let isWithin = try await write { db -> Bool in
      let known = try String.fetchSet(db, sql: "SELECT name FROM inboxName WHERE sender = ?", arguments: [sender])
      let new = names.subtracting(known)
      guard known.count + new.count <= limit else { return false }
      for name in new {
        try db.execute(
          sql: "INSERT OR IGNORE INTO inboxName (sender, name) VALUES (?, ?)", arguments: [sender, name])
      }
      return true
    }
    if !isWithin { throw InboxNamesExceeded(limit: limit) }
  }

  private static func inboxSenders(_ db: Database) throws -> [InboxSender] {
    try Row.fetchAll(db, sql: "SELECT * FROM inboxSender ORDER BY name").map(InboxSender.init)
  }
}

extension InboxSender {
  fileprivate init(_ row: Row) throws {
    guard let hash = TokenHash(bytes: try row.required("secretHash") as Data) else {
      throw MalformedRow(column: "secretHash")
    }
    let person: String = try row.required("person")
    guard let characteristics = try? JSONDecoder().decode([String: String].self, from: Data(person.utf8)) else {
      throw MalformedRow(column: "person")
    }
    self.init(
      name: try row.required("name"), secretHash: hash, types: try row.set("types"),
      person: Person(characteristics: characteristics), created: try row.requiredDate("created"),
      lastSeen: try row.date("lastSeen"), revoked: try row.date("revoked"))
  }
}

extension Person {
  /// Returns the JSON for the column `person`.
  fileprivate func json() throws -> String {
    var characteristics: [String: String] = [:]
    for trait in Trait.allCases { characteristics[trait.rawValue] = self[trait] }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(characteristics), as: UTF8.self)
  }
}
