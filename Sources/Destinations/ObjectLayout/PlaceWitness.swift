import Cryptography
import Foundation
import Glibc
import HealthModel
import OperatingSystem

/// The key of the last delivery that a place of objects has confirmed, in an object there and in a file here.
///
/// A place whose object is missing or names another delivery is empty, another one, or an older copy of itself: what it was
/// given since is not there. The object is small and has one name, so that the cost of comparing does not grow with the
/// history.
///
///     {"delivery":"3e7a…-1f","record":"3e7a…"}
struct PlaceWitness: Sendable {
  private static let longest = 4_096

  private struct Object: Codable {
    var delivery: String
    var record: String
  }

  /// The content of the file: the confirmed delivery, and those attempted since.
  private struct Memory: Codable {
    var confirmed: String?
    /// Oldest first.
    var attempted: [String] = []

    func contains(_ object: Object) -> Bool {
      confirmed == object.delivery || attempted.contains(object.delivery)
    }
  }

  /// How many deliveries may have been attempted since one was confirmed.
  private static let mostAttempts = 16

  private let store: any ObjectStore
  private let name: String
  private let record: String
  private let path: String

  /// - Parameters:
  ///   - folder: what the object is in, without a slash at its end.
  ///   - record: the identifier of the store that is delivered.
  init(in store: any ObjectStore, folder: String, record: UUID, stateFolder: String) {
    self.store = store
    self.record = record.uuidString.lowercased()
    // Two destinations of one record may share a folder.
    let destination = URL(filePath: stateFolder).deletingLastPathComponent().lastPathComponent
    let hash = SHA256.hash(data: Data(destination.utf8)).prefix(2).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    name = "\(folder)/_hpeer-\(self.record.prefix(8))-\(hash.joined()).json"
    path = "\(stateFolder)/witness.json"
  }

  /// Compares the object with the file. A place that never kept the object cannot tell.
  ///
  /// - Throws: ``DeliveryError`` where the place cannot be read.
  func examine() async throws -> PlaceExamination {
    let memory = await read()
    if memory.confirmed == nil { return .intact }
    guard let object = try await store.getKnown(name, limit: Self.longest) else {
      return .lost(reason: "the file that hpeer left there, \(name), is gone")
    }
    return isKnown(object, memory)
      ? .intact : .lost(reason: "what hpeer left there, \(name), is not of the last delivery")
  }

  private func isKnown(_ object: StoredObject, _ memory: Memory) -> Bool {
    guard let found = try? JSONDecoder().decode(Object.self, from: Data(object.bytes)) else { return false }
    return found.record == record && memory.contains(found)
  }

  /// Leaves word of a delivery at the place, then here. A place that shows another object than it was given is not asked again,
  /// and one that has lost it is left as it is, for ``examine()`` to find.
  ///
  /// - Throws: ``DeliveryError``, `SystemError`. Whichever of both keys the place has then, it is taken for intact.
  func confirm(_ key: DeliveryKey) async throws {
    var memory = await read()
    if memory.confirmed == key.description { return }
    let isFirst = memory.confirmed == nil
    if !isFirst {
      guard let object = try await store.getKnown(name, limit: Self.longest), isKnown(object, memory) else { return }
      memory.attempted = (memory.attempted + [key.description]).suffix(Self.mostAttempts)
      try await write(memory)
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let bytes = Array(try encoder.encode(Object(delivery: key.description, record: record)))
    try await store.put(bytes, at: name, contentType: "application/json", if: .always)
    if isFirst { guard try await store.get(name, limit: Self.longest)?.bytes == bytes else { return } }
    try await store.synchronize([name])
    try await write(Memory(confirmed: key.description))
  }

  /// Expects nothing of the place until the next delivery. Throws `SystemError`.
  func forget() async throws {
    try await onThread { [path] _ throws(SystemError) in
      guard unlink(path) == 0 || errno == ENOENT else { throw SystemError("delete", path) }
    }
  }

  private func read() async -> Memory {
    await onThread { [path] _ in
      guard let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int, size <= Self.longest,
        let data = FileManager.default.contents(atPath: path)
      else { return Memory() }
      return (try? JSONDecoder().decode(Memory.self, from: data)) ?? Memory()
    }
  }

  private func write(_ memory: Memory) async throws {
    let bytes = Array(try JSONEncoder().encode(memory))
    try await onThread { [path] _ in
      try PrivateFile.makeDirectory(URL(filePath: path).deletingLastPathComponent().path)
      try PrivateFile.replace(path, bytes)
    }
  }
}
