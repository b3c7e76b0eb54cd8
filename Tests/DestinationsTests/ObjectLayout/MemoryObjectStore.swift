import Foundation
import Synchronization

@testable import Destinations

/// Objects in memory, with a hook that can write in between as another program would.
final class MemoryObjectStore: ObjectStore {
  struct Write: Hashable {
    var name: String
    var condition: PutCondition
  }

  private struct State {
    var objects: [String: [UInt8]] = [:]
    var writes: [Write] = []
    var synchronized: [String] = []
  }

  private let state = Mutex(State())
  private let beforePut: @Sendable (MemoryObjectStore, String) throws -> Void
  private let ignoresConditions: Bool
  private let width: Int

  /// - Parameter width: The number of objects that may be read and written at the same time.
  init(
    ignoresConditions: Bool = false, width: Int = 4,
    beforePut: @escaping @Sendable (MemoryObjectStore, String) throws -> Void = { _, _ in }
  ) {
    self.ignoresConditions = ignoresConditions
    self.width = width
    self.beforePut = beforePut
  }

  var objects: [String: [UInt8]] { state.withLock { $0.objects } }
  var writes: [Write] { state.withLock { $0.writes } }
  /// The names that were synchronized, in order.
  var synchronized: [String] { state.withLock { $0.synchronized } }
  func text(_ name: String) -> String? { objects[name].map { String(decoding: $0, as: UTF8.self) } }
  func set(_ name: String, _ text: String) { state.withLock { $0.objects[name] = Array(text.utf8) } }
  func forgetWrites() { state.withLock { $0.writes = [] } }

  private static func version(_ bytes: [UInt8]) -> ObjectVersion {
    ObjectVersion(rawValue: "\(bytes.count)-\(bytes.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) })")
  }

  func concurrentWrites() -> Int { width }

  func get(_ name: String, limit: Int) throws -> StoredObject? {
    guard let bytes = objects[name] else { return nil }
    guard bytes.count <= limit else { throw DayFiles.tooLarge(name) }
    return StoredObject(bytes: bytes, version: Self.version(bytes))
  }

  func put(_ bytes: [UInt8], at name: String, contentType: String, if condition: PutCondition) throws {
    try beforePut(self, name)
    try state.withLock { state in
      switch condition {
      case .absent where !ignoresConditions && state.objects[name] != nil: throw ObjectConflict(name: name)
      case .unchanged(let version)
      where !ignoresConditions && state.objects[name].map(Self.version) != version:
        throw ObjectConflict(name: name)
      default: break
      }
      state.objects[name] = bytes
      state.writes.append(Write(name: name, condition: condition))
    }
  }

  func synchronize(_ names: [String]) { state.withLock { $0.synchronized += names } }

  func delete(_ name: String) { state.withLock { state in state.objects[name] = nil } }
}
