import ExternalStores
import Foundation
import HealthModel
import Synchronization

/// An object for a step count.
struct StepRow: ExternalObject, Hashable {
  let uuid: UUID
  var steps: Double?

  static func healthKitObjectType() -> SampleType? { SampleType("HKQuantityTypeIdentifierStepCount") }

  static func externalObject(object: Sample, converter: (any ExternalObjectConverter)?) throws -> StepRow? {
    if let converter { return StepRow(uuid: object.uuid, steps: try converter.convert(object: object)) }
    guard case .quantity(let quantity) = object.payload else { return nil }
    return StepRow(uuid: object.uuid, steps: quantity.value)
  }

  static func externalObject(deletedObject: Tombstone, converter: (any ExternalObjectConverter)?) -> StepRow? {
    StepRow(uuid: deletedObject.sample.uuid)
  }

  mutating func update(with object: Sample) {
    if case .quantity(let quantity) = object.payload { steps = quantity.value }
  }
}

/// An in-memory store that records its calls and fails on demand.
final class ScriptedStore: ExternalStore {
  enum Call: Hashable {
    case fetch(Int)
    case add(Int)
    case update(Int)
    case delete(Int)
    case forget
  }

  struct State {
    var rows: [UUID: StepRow] = [:]
    var calls: [Call] = []
    /// The number of rows that were added although they already existed.
    var doubles = 0
  }

  let name: String
  private let state = Mutex(State())
  private let before: @Sendable (Call, _ number: Int) async throws -> Void

  init(_ name: String = "rows", before: @escaping @Sendable (Call, Int) async throws -> Void = { _, _ in }) {
    self.name = name
    self.before = before
  }

  var seen: State { state.withLock(\.self) }
  var rows: [UUID: StepRow] { seen.rows }
  func forgetCalls() { state.withLock { $0.calls = [] } }

  private func note(_ call: Call) async throws {
    let number = state.withLock { state in
      state.calls.append(call)
      return state.calls.count - 1
    }
    try await before(call, number)
  }

  private static func rows(_ objects: [any ExternalObject]) -> [StepRow] { objects.compactMap { $0 as? StepRow } }

  func fetchObjects(with objects: [any ExternalObject]) async throws -> [any ExternalObject] {
    try await note(.fetch(objects.count))
    return state.withLock { state in objects.compactMap { state.rows[$0.uuid] } }
  }

  func add(objects: [any ExternalObject]) async throws {
    try await note(.add(objects.count))
    state.withLock { state in
      for row in Self.rows(objects) where state.rows.updateValue(row, forKey: row.uuid) != nil { state.doubles += 1 }
    }
  }

  func update(objects: [any ExternalObject]) async throws {
    try await note(.update(objects.count))
    state.withLock { state in for row in Self.rows(objects) { state.rows[row.uuid] = row } }
  }

  func delete(deletedObjects: [any ExternalObject]) async throws {
    try await note(.delete(deletedObjects.count))
    state.withLock { state in for object in deletedObjects { state.rows[object.uuid] = nil } }
  }

  func forgetObjects(of type: any ExternalObject.Type) async throws {
    try await note(.forget)
    state.withLock { $0.rows = [:] }
  }
}

/// A delegate that permits executions on demand and records how they end.
final class ScriptedDelegate: QueryObserverDelegate {
  private let state = Mutex((mayExecute: true, ends: [String?]()))
  private let size: Int?
  /// A stream with an element for each end of an execution.
  let ended: AsyncStream<String?>
  private let ending: AsyncStream<String?>.Continuation

  init(batchSize: Int? = nil) {
    size = batchSize
    (ended, ending) = AsyncStream.makeStream()
  }

  var ends: [String?] { state.withLock(\.ends) }
  func setMayExecute(_ may: Bool) { state.withLock { $0.mayExecute = may } }

  func batchSize(for observer: QueryObserver) -> Int? { size }
  func shouldExecute(for observer: QueryObserver) -> Bool { state.withLock(\.mayExecute) }
  func didFinishExecution(for observer: QueryObserver, error: (any Error)?) {
    let text = error.map { "\($0)" }
    state.withLock { $0.ends.append(text) }
    ending.yield(text)
  }
}
