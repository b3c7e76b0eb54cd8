import Cryptography
import Foundation
import Glibc
import HealthModel
import OperatingSystem

/// A marker with the key of the last confirmed delivery, in an object at the place and in a local file.
///
/// If the object is missing or names another delivery, the place is empty, a different place, or an older copy of
/// itself, and lacks recent deliveries. The object is small and has a fixed name, so that the comparison doesn't cost
/// more as the history grows.
///
///     {"delivery":"3e7a…-1f","record":"3e7a…"}
struct DeliveryMarker: Sendable {
  private static let longest = 4_096

  private struct Object: Codable {
    var delivery: String
    var record: String
  }

  /// The content of the local file: the confirmed delivery, and those attempted since.
  private struct Memory: Codable {
    var confirmed: String?
    /// The keys, oldest first.
    var attempted: [String] = []

    func contains(_ object: Object) -> Bool {
      confirmed == object.delivery || attempted.contains(object.delivery)
    }
  }

  /// The maximum number of attempted deliveries that are remembered since the last confirmed one.
  private static let mostAttempts = 16

  private let store: any ObjectStore
  private let name: String
  private let record: String
  private let path: String

  /// Creates a marker without reading it.
  ///
  /// - Parameters:
  ///   - folder: the folder of the object, without a slash at its end.
  ///   - record: the identifier of the store that is delivered.
  init(in store: any ObjectStore, folder: String, record: UUID, stateFolder: String) {
    self.store = store
    self.record = record.uuidString.lowercased()
    // Two destinations of one record may share a folder, so the name contains a hash of the destination.
    let destination = URL(filePath: stateFolder).deletingLastPathComponent().lastPathComponent
    let hash = SHA256.hash(data: Data(destination.utf8)).prefix(2).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    name = "\(folder)/_hpeer-\(self.record.prefix(8))-\(hash.joined()).json"
    path = "\(stateFolder)/witness.json"
  }

  /// Compares the object with the local file. Returns ``PlaceState/intact`` if no delivery has been confirmed.
  ///
  /// - Throws: ``DeliveryError`` if the place cannot be read.
  func examine() async throws -> PlaceState {
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

  /// Writes the key of a delivery to the place, then to the local file. Does nothing if the place has lost the
  /// object, which ``examine()`` will report. If the first object doesn't read back equal, the place is not examined
  /// in future.
  ///
  /// - Throws: ``DeliveryError``, `SystemError`. Either of the two keys counts as intact afterwards.
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

  /// Deletes the local file, so that nothing is expected of the place until the next delivery. Throws `SystemError`.
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
