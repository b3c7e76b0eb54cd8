import Foundation
import HealthStore
import TestSupport

/// A machine with a store, which may be copied and put back.
final class Machine {
  /// The files of a store at one moment.
  struct Copy: Sendable {
    /// Of the machine that the store is first of: what its peers know it by.
    var id: Int
    var files: [String: Data]
  }

  private(set) var id: Int
  private(set) var store: HealthStore
  /// What came from each feed and was, or might have been, committed. What comes later than a copy is not of the store
  /// that is put back.
  var deliveries: [String: [[UInt8]]] = [:]
  private var directory: TemporaryDirectory?
  /// Of another process that has the store open.
  private var other: HealthStore?

  init(_ copy: Copy) throws {
    let place = try Self.place(copy)
    id = copy.id
    store = try HealthStore(directory: place.path, create: false)
    directory = place
  }

  /// One that is neither copied nor put back.
  init(id: Int, store: HealthStore) {
    self.id = id
    self.store = store
  }

  /// To be called while nobody writes.
  func copy() throws -> Copy? {
    try directory.map { try Self.copy($0.path, id: id) }
  }

  /// In another directory, so that the store that was here may close whenever it likes.
  func restore(_ copy: Copy) throws {
    let place = try Self.place(copy)
    store = try HealthStore(directory: place.path, create: false)
    directory = place
    other = nil
    id = copy.id
    deliveries = [:]
  }

  func reopen() throws {
    guard let directory else { return }
    let new = try HealthStore(directory: directory.path, create: false)
    other = store
    store = new
  }

  func takeTurns() {
    guard let next = other else { return }
    other = store
    store = next
  }

  /// New stores, made once.
  static func templates(_ count: Int) throws -> [Copy] {
    try (0..<count).map { id in
      let directory = try TemporaryDirectory(inMemory: true)
      let store = try HealthStore(directory: directory.path)
      return try withExtendedLifetime(store) { try copy(directory.path, id: id) }
    }
  }

  private static func place(_ copy: Copy) throws -> TemporaryDirectory {
    let directory = try TemporaryDirectory(inMemory: true)
    for (name, bytes) in copy.files {
      guard
        FileManager.default.createFile(
          atPath: directory.path(name), contents: bytes, attributes: [.posixPermissions: 0o600])
      else { throw Failure("\(directory.path(name)) cannot be written") }
    }
    return directory
  }

  private static func copy(_ directory: String, id: Int) throws -> Copy {
    var files: [String: Data] = [:]
    for name in ["store.sqlite", "store.sqlite-wal"]
    where FileManager.default.fileExists(atPath: directory + "/" + name) {
      files[name] = try Data(contentsOf: URL(filePath: directory + "/" + name))
    }
    return Copy(id: id, files: files)
  }
}
