/// A place that keeps objects by name: a bucket, a folder, a WebDAV collection.
///
/// Names are relative paths of visible ASCII (`v1/heart_rate/2024/06/15/data.jsonl`), without an empty part, `.` or `..`.
/// Whatever an object is in (a prefix, a folder) is made by ``put(_:at:contentType:if:)`` where it is missing.
///
/// A write is whole or not at all: a reader sees the bytes before it or those after it. Two writers of one name cannot
/// overwrite each other unseen, since each says what it expects to be there (``PutCondition``).
///
/// All methods throw ``DeliveryError`` where the place does not do what is asked, and what else is said of them.
protocol ObjectStore: Sendable {
  /// How many objects may be read and written at once.
  func concurrentWrites() async throws -> Int

  /// What is there under this name; `nil` where nothing is.
  ///
  /// - Parameter limit: in bytes.
  /// - Throws: ``DeliveryError/refused(reason:)`` of an object that is larger, which is not read to its end.
  func get(_ name: String, limit: Int) async throws -> StoredObject?

  /// The same of an object that was read before: what may not be read now is not taken for gone.
  func getKnown(_ name: String, limit: Int) async throws -> StoredObject?

  /// Writes an object, and returns when every reader has it. ``synchronize(_:)`` makes sure that it stays.
  ///
  /// - Throws: ``ObjectConflict`` where the condition does not hold; nothing is changed then.
  ///   ``DeliveryError/refused(reason:)`` of an object that the place never takes.
  func put(_ bytes: [UInt8], at name: String, contentType: String, if condition: PutCondition) async throws

  /// Returns when the place has for good what was put under these names, also by another process and before: until then,
  /// failing power may give back what was there before.
  func synchronize(_ names: [String]) async throws

  /// Takes an object away; does nothing where there is none.
  func delete(_ name: String) async throws
}

extension ObjectStore {
  static var usualConcurrentWrites: Int { 4 }

  func concurrentWrites() async throws -> Int { Self.usualConcurrentWrites }

  func getKnown(_ name: String, limit: Int) async throws -> StoredObject? { try await get(name, limit: limit) }

  /// Of at most ``DayFiles/largestObject``.
  func get(_ name: String) async throws -> StoredObject? { try await get(name, limit: DayFiles.largestObject) }

  /// A server that has answered has it for good.
  func synchronize(_ names: [String]) async throws {}
}

/// An object and which state of it that is.
struct StoredObject: Hashable, Sendable {
  var bytes: [UInt8]
  var version: ObjectVersion
}

/// Names one state of an object: an ETag, or a hash of its bytes. Two states with different bytes have different versions.
struct ObjectVersion: RawRepresentable, Hashable, Sendable {
  let rawValue: String

  init(rawValue: String) { self.rawValue = rawValue }
}

/// What must be there for a write to happen.
enum PutCondition: Hashable, Sendable {
  /// Whatever there is.
  case always
  /// Nothing of this name (`If-None-Match: *`).
  case absent
  /// What ``ObjectStore/get(_:)`` has given (`If-Match`).
  case unchanged(ObjectVersion)
}

/// Somebody else has written or deleted the object meanwhile.
struct ObjectConflict: Error, Hashable, Sendable {
  let name: String
}
