/// A place that stores objects by name: a bucket, a folder, a WebDAV collection.
///
/// Names are relative paths of visible ASCII (`v1/heart_rate/2024/06/15/data.jsonl`), without an empty part, `.` or
/// `..`. ``put(_:at:contentType:if:)`` creates missing parent folders.
///
/// Writes are atomic: a reader sees the bytes before or after a write. Two writers of one name cannot overwrite each
/// other unnoticed, because each states what it expects to be there (``PutCondition``).
///
/// All methods throw ``DeliveryError`` if the place fails, and other errors as documented.
protocol ObjectStore: Sendable {
  /// Returns the maximum number of objects to read and write at once.
  func concurrentWrites() async throws -> Int

  /// Returns the object with this name, or `nil` if there is none.
  ///
  /// - Parameter limit: the maximum size in bytes.
  /// - Throws: ``DeliveryError/refused(reason:)`` if the object is larger; it is not read to its end.
  func get(_ name: String, limit: Int) async throws -> StoredObject?

  /// The same of an object that was read before: what may not be read now is not taken for gone.
  func getKnown(_ name: String, limit: Int) async throws -> StoredObject?

  /// Writes an object, and returns when every reader sees it. ``synchronize(_:)`` makes it durable.
  ///
  /// - Throws: ``ObjectConflict`` if the condition is not met; nothing is changed then.
  ///   ``DeliveryError/refused(reason:)`` if the place never accepts the object.
  func put(_ bytes: [UInt8], at name: String, contentType: String, if condition: PutCondition) async throws

  /// Returns when the objects with these names are durable, even if another process wrote them earlier. Before that,
  /// a power failure may restore their previous content.
  func synchronize(_ names: [String]) async throws

  /// Deletes an object; does nothing if there is none.
  func delete(_ name: String) async throws
}

extension ObjectStore {
  static var usualConcurrentWrites: Int { 4 }

  func concurrentWrites() async throws -> Int { Self.usualConcurrentWrites }

  func getKnown(_ name: String, limit: Int) async throws -> StoredObject? { try await get(name, limit: limit) }

  /// Returns an object of at most ``DayFiles/largestObject`` bytes.
  func get(_ name: String) async throws -> StoredObject? { try await get(name, limit: DayFiles.largestObject) }

  /// Does nothing: what a server has acknowledged counts as durable.
  func synchronize(_ names: [String]) async throws {}
}

/// The content of an object and its version.
struct StoredObject: Hashable, Sendable {
  var bytes: [UInt8]
  var version: ObjectVersion
}

/// The identifier of an object's state, different for different bytes: an ETag or a hash of the bytes.
struct ObjectVersion: RawRepresentable, Hashable, Sendable {
  let rawValue: String

  init(rawValue: String) { self.rawValue = rawValue }
}

/// The condition under which a write happens.
enum PutCondition: Hashable, Sendable {
  /// No condition.
  case always
  /// The object must not exist (`If-None-Match: *`).
  case absent
  /// The object must still have the version that ``ObjectStore/get(_:)`` returned (`If-Match`).
  case unchanged(ObjectVersion)
}

/// The error of a conditional write: another writer has written or deleted the object in the meantime.
struct ObjectConflict: Error, Hashable, Sendable {
  let name: String
}
