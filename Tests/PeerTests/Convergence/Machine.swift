import Foundation
import HealthStore
import TestSupport

/// A machine with a store that can be copied and restored.
final class Machine {
  /// The files of a store at a given time.
  struct Copy: Sendable {
    /// The number of the machine on which the store was created, by which its peers know it.
    var id: Int
    var files: [String: Data]
  }

  private(set) var id: Int
  private(set) var store: HealthStore
  /// The batches that came from each feed and were, or might have been, committed. Batches after a copy don't belong
  /// to the store restored from it.
  var deliveries: [String: [[UInt8]]] = [:]
  private var directory: TemporaryDirectory?
  /// The store as opened by another process.
  private var other: HealthStore?

  init(_ copy: Copy) throws {
    let place = try Self.place(copy)
    id = copy.id
    store = try HealthStore(directory: place.path, create: false)
    directory = place
  }

  /// Creates a machine that can't be copied or restored.
  init(id: Int, store: HealthStore) {
    self.id = id
    self.store = store
  }

  /// Copies the store's files. Call it only while there are no writes.
  func copy() throws -> Copy? {
    try directory.map { try Self.copy($0.path, id: id) }
  }

  /// Restores a copy in a new directory, so that the previous store may close at any time.
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

  /// Returns the files of new stores.
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
