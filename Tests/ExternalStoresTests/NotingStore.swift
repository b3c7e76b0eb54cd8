import ExternalStores
import Foundation
import HealthModel
import Synchronization

/// An in-memory store of objects of several types that records each call with its objects. Other notes, made by
/// ``note(_:)``, go to the same list.
final class NotingStore: ExternalStore {
  private struct State {
    var objects: [UUID: any ExternalObject] = [:]
    var receipts: [String: Data] = [:]
    var notes: [String] = []
    var running = 0
    var mostAtOnce = 0
  }

  let name: String
  private let names: [UUID: String]
  private let keepsReceipts: Bool
  private let state = Mutex(State())
  private let before: @Sendable (_ note: String) async throws -> Void

  /// - Parameters:
  ///   - names: The names of objects in the list.
  ///   - before: A closure called before each call, which may throw in its place.
  init(
    _ name: String = "notes", names: [UUID: String] = [:], keepsReceipts: Bool = false,
    before: @escaping @Sendable (_ note: String) async throws -> Void = { _ in }
  ) {
    (self.name, self.names, self.keepsReceipts, self.before) = (name, names, keepsReceipts, before)
  }

  var notes: [String] { state.withLock(\.notes) }
  var uuids: Set<UUID> { state.withLock { Set($0.objects.keys) } }
  /// The largest number of concurrent calls.
  var mostAtOnce: Int { state.withLock(\.mostAtOnce) }

  func note(_ text: String) { state.withLock { $0.notes.append(text) } }
  func forgetNotes() { state.withLock { $0.notes = [] } }

  private func call(_ what: String, _ objects: [any ExternalObject]) async throws {
    let named = objects.map { names[$0.uuid] ?? $0.uuid.uuidString }.sorted()
    let note = ([what] + named).joined(separator: " ")
    state.withLock { state in
      state.notes.append(note)
      state.running += 1
      state.mostAtOnce = max(state.mostAtOnce, state.running)
    }
    defer { state.withLock { $0.running -= 1 } }
    await Task.yield()
    try await before(note)
  }

  func fetchObjects(with objects: [any ExternalObject]) async throws -> [any ExternalObject] {
    try await call("fetch", objects)
    return state.withLock { state in objects.compactMap { state.objects[$0.uuid] } }
  }

  func add(objects: [any ExternalObject]) async throws {
    try await call("add", objects)
    state.withLock { state in for object in objects { state.objects[object.uuid] = object } }
  }

  func update(objects: [any ExternalObject]) async throws {
    try await call("update", objects)
    state.withLock { state in for object in objects { state.objects[object.uuid] = object } }
  }

  func delete(deletedObjects: [any ExternalObject]) async throws {
    try await call("delete", deletedObjects)
    state.withLock { state in for object in deletedObjects { state.objects[object.uuid] = nil } }
  }

  func forgetObjects(of type: any ExternalObject.Type) async throws {
    try await call("forget \(type)", [])
    state.withLock { state in state.objects = state.objects.filter { Swift.type(of: $0.value) != type } }
  }

  func receipt(of type: any ExternalObject.Type) async -> Data? { state.withLock { $0.receipts["\(type)"] } }

  func keepReceipt(_ receipt: Data, of type: any ExternalObject.Type) async {
    if keepsReceipts { state.withLock { $0.receipts["\(type)"] = receipt } }
  }
}

/// An object for a sample of flights climbed.
struct FloorRow: ExternalObject {
  let uuid: UUID

  static let type = SampleType("HKQuantityTypeIdentifierFlightsClimbed")
  static func healthKitObjectType() -> SampleType? { type }
  static func externalObject(object: Sample, converter: (any ExternalObjectConverter)?) -> FloorRow? {
    FloorRow(uuid: object.uuid)
  }
  static func externalObject(deletedObject: Tombstone, converter: (any ExternalObjectConverter)?) -> FloorRow? {
    FloorRow(uuid: deletedObject.sample.uuid)
  }
  mutating func update(with object: Sample) {}
}
