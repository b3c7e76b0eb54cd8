import GRDB
import OperatingSystem

extension SQLiteFile {
  /// Copies the database as it is at one instant into a new file of mode 0600, while other connections read and write
  /// it. The copy is a single file without a write-ahead log. Uses SQLite's online backup. Blocking. Throws
  /// `SystemError`, `DatabaseError`.
  ///
  /// - Parameters:
  ///   - target: the path of the copy. No file may exist there.
  ///   - edit: changes the copy. Data that it deletes cannot be recovered from the copy.
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
