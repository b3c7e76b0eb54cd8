import HealthModel
import HealthStore

/// Deletes the samples of some types that start within a range. Tombstones remain, which travel to whoever pulls.
///
/// ```swift
/// func delete(
///   _ types: [SampleType], in range: Range<Timestamp>, of store: HealthStore,
///   ask: (DeleteOperation.Plan) async -> Bool
/// ) async throws {
///   let operation = DeleteOperation(types, in: range)
///   let plan = try await operation.plan(in: store)
///   guard await ask(plan) else { return }
///   try await operation.run(plan, in: store) { type, count in print(count, "of", type.shortName) }
/// }
/// ```
public struct DeleteOperation: Sendable {
  /// How many samples there are to delete, of each type that has any.
  public struct Plan: Hashable, Sendable {
    /// A type of which there is something to delete.
    public struct Entry: Hashable, Sendable {
      public var type: SampleType
      /// At least 1, when the plan was made; ``DeleteOperation/run(_:in:deleted:)`` deletes what is there by then.
      public var samples: Int
    }

    /// In the order of ``DeleteOperation/types``; empty where there is nothing to delete.
    public fileprivate(set) var entries: [Entry] = []

    /// Of all types together.
    public var samples: Int { entries.reduce(0) { $0 + $1.samples } }
  }

  /// Each once.
  public let types: [SampleType]
  /// Of starts, the end not included: a sample that started before and still went on is not meant.
  public let range: Range<Timestamp>

  /// - Parameters:
  ///   - types: each once, or a plan counts its samples twice.
  ///   - range: of starts, the end not included.
  public init(_ types: [SampleType], in range: Range<Timestamp>) {
    self.types = types
    self.range = range
  }

  /// Changes nothing.
  public func plan(in store: HealthStore) async throws(StoreError) -> Plan {
    var plan = Plan()
    for type in types {
      let count = try await store.count(of: type, in: range)
      if count > 0 { plan.entries.append(.init(type: type, samples: count)) }
    }
    return plan
  }

  /// Deletes what is there by now of the plan's types, in transactions of some thousands, each together with its audit
  /// event. Cancelled, it has deleted some.
  ///
  /// - Parameter deleted: told of each type how many were deleted; what it throws ends this.
  public func run(
    _ plan: Plan, in store: HealthStore, deleted: (SampleType, Int) async throws -> Void = { _, _ in }
  ) async throws {
    for entry in plan.entries {
      let count = try await store.delete(entry.type, in: range) { [range] count in
        AuditEvent(
          .deleted,
          [
            "types": entry.type.shortName, "from": range.lowerBound.iso8601, "to": range.upperBound.iso8601,
            "count": String(count),
          ])
      }
      try await deleted(entry.type, count)
    }
  }
}
