import HealthAnalysis
import HealthModel
import HealthStore

/// Deletes the samples that pass a filter. Tombstones remain, which travel to whoever pulls.
///
/// ```swift
/// func delete(
///   _ samples: SampleFilter, of store: HealthStore, ask: (DeleteOperation.Plan) async -> Bool
/// ) async throws {
///   let operation = DeleteOperation(samples)
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

    /// In the order of the types' identifiers; empty where there is nothing to delete.
    public fileprivate(set) var entries: [Entry] = []

    /// Of all types together.
    public var samples: Int { entries.reduce(0) { $0 + $1.samples } }
  }

  private static let always = Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)

  /// What is deleted. By start: a sample that started before and still went on is not meant.
  public let filter: SampleFilter

  /// - Parameter filter: ``SampleFilter/everything`` deletes the whole record.
  public init(_ filter: SampleFilter) {
    self.filter = filter
  }

  /// Changes nothing.
  public func plan(in store: HealthStore) async throws(StoreError) -> Plan {
    var plan = Plan()
    for entry in try await store.samples.typeCounts() where filter.passes(entry.type) {
      let count = try await store.samples.count(of: entry.type, in: filter.range, from: filter.sources)
      if count > 0 { plan.entries.append(.init(type: entry.type, samples: count)) }
    }
    plan.entries.sort { SampleType.utf8Order($0.type, $1.type) }
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
      var detail = ["types": entry.type.shortName]
      detail["from"] = filter.earliest?.iso8601
      detail["to"] = filter.end?.iso8601
      detail["sources"] = filter.sourceList
      let count = try await store.samples.delete(
        entry.type, in: filter.range ?? Self.always, from: filter.sources
      ) { [detail] count in
        AuditEvent(.deleted, detail.merging(["count": String(count)]) { $1 })
      }
      try await deleted(entry.type, count)
    }
    // What is deleted is in no number that is kept.
    if Rollups.areKept(beside: store) { try await Rollups(of: store).refresh() }
  }
}
