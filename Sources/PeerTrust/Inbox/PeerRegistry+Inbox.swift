import Foundation
import GRDB
import HealthModel

/// The apps that may send to this machine's inbox.
extension PeerRegistry {
  /// The answers that are remembered of one sender: the newest.
  public static let inboxAnswerLimit = 1000
  /// The bodies of one sender of which it is remembered when they came: the newest.
  public static let inboxBodyLimit = 20_000
  /// Seconds within which a use of a secret is written once.
  private static let seenGranularity: TimeInterval = 60

  /// Adds a sender. One that was there under that name, even revoked, has its secret, its types and its person replaced.
  ///
  /// - Parameters:
  ///   - name: see ``InboxSender/isName(_:)``.
  ///   - types: what it may send; `nil` for everything.
  ///   - person: whose record this is, of whom somebody has said that the phone is theirs.
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
      // What it has sent before may be wanted again now, as of when it came; and its names are counted anew.
      try db.execute(sql: "UPDATE inboxBody SET answer = '' WHERE sender = ?", arguments: [name])
      try db.execute(sql: "DELETE FROM inboxName WHERE sender = ?", arguments: [name])
    }
  }

  /// All senders, also revoked ones, by name.
  public func inboxSenders() async throws -> [InboxSender] { try await read(Self.inboxSenders) }

  /// The sender whose secret this is, unless it is revoked. Takes the same time whichever it is.
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

  /// Notes that a sender was seen, once a minute.
  public func touchInboxSender(_ sender: InboxSender, now: Date = Date()) async throws {
    if let lastSeen = sender.lastSeen, abs(now.timeIntervalSince(lastSeen)) < Self.seenGranularity { return }
    try await write { db in
      try db.execute(
        sql: "UPDATE inboxSender SET lastSeen = ? WHERE name = ?", arguments: [now.microseconds, sender.name])
    }
  }

  /// Takes a sender's right away. False if there is none of that name, or it is revoked already.
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

  /// What a sender was told of a body with this SHA-256; `nil` for one that is new or long ago.
  public func inboxAnswer(to body: Data, of sender: String) async throws -> String? {
    try await read { db in
      try String.fetchOne(
        db, sql: "SELECT answer FROM inboxBody WHERE sender = ? AND hash = ? AND answer <> ''",
        arguments: [sender, body])
    }
  }

  /// When a body with this SHA-256 came from a sender first; `nil` for one that is new or very long ago.
  public func inboxArrival(of body: Data, from sender: String) async throws -> Timestamp? {
    try await read { db in
      try Int64.fetchOne(
        db, sql: "SELECT received FROM inboxBody WHERE sender = ? AND hash = ?", arguments: [sender, body]
      ).map { Timestamp(microseconds: $0) }
    }
  }

  /// When the newest body of each sender came that is remembered, by the senders' names.
  public func inboxLastReceived() async throws -> [String: Timestamp] {
    try await read { db in
      let rows = try Row.fetchAll(db, sql: "SELECT sender, MAX(received) AS received FROM inboxBody GROUP BY sender")
      return Dictionary(
        try rows.map { (try $0.required("sender") as String, Timestamp(microseconds: try $0.required("received"))) }
      ) { $1 }
    }
  }

  /// Remembers that a body has come, in the place of the oldest. One that is known came when it came first.
  ///
  /// - Parameter limit: how many are remembered of one sender.
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

  /// Remembers what a sender is told of a body, and forgets the oldest answer: what came then is read again, and adds nothing.
  ///
  /// - Parameter limit: how many answers are remembered of one sender.
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

  /// Notes the names that a body of a sender brings.
  ///
  /// - Throws: ``InboxNamesExceeded``, and notes nothing, where a sender would have brought more than `limit`.
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
  /// The column `person`.
  fileprivate func json() throws -> String {
    var characteristics: [String: String] = [:]
    for trait in Trait.allCases { characteristics[trait.rawValue] = self[trait] }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return String(decoding: try encoder.encode(characteristics), as: UTF8.self)
  }
}
