import GRDB
import OperatingSystem

extension SQLiteFile {
  /// Copies the database as it is at one instant into a new file of mode 0600 that needs no other beside it (SQLite's online
  /// backup), while others read and write it. Blocking. Throws `SystemError`, `DatabaseError`.
  ///
  /// - Parameters:
  ///   - target: must not be there.
  ///   - edit: changes the copy; nothing can be recovered of what it takes out.
  public func copy(to target: String, _ edit: (Database) throws -> Void = { _ in }) throws {
    try requireNoLinks()
    try PrivateFile.create(target, [])
    var configuration = Configuration()
    configuration.busyMode = .timeout(30)
    let source = isWritable ? path : forReading(&configuration)
    let original = try DatabaseQueue(path: source, configuration: configuration)
    defer { try? original.close() }
    let copy = try DatabaseQueue(path: target)
    defer { try? copy.close() }
    try original.backup(to: copy)
    try copy.writeWithoutTransaction { db in
      try db.execute(sql: "PRAGMA secure_delete = ON")
      try edit(db)
      try db.execute(sql: "PRAGMA journal_mode = DELETE")
    }
  }
}
