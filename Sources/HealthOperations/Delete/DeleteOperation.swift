import HealthAnalysis
import HealthModel
import HealthStore

/// An operation that deletes the samples that pass a filter. Tombstones remain and are sent to machines that pull.
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
  /// The number of samples to delete, by type.
  public struct Plan: Hashable, Sendable {
    /// A type that has samples to delete.
    public struct Entry: Hashable, Sendable {
      public var type: SampleType
      /// The number of samples when the plan was made, at least 1. ``DeleteOperation/run(_:in:deleted:)`` deletes
      /// those that exist when it runs.
      public var samples: Int
    }

    /// The types in the order of their identifiers; empty if there is nothing to delete.
    public fileprivate(set) var entries: [Entry] = []

    /// The number of samples of all types.
    public var samples: Int { entries.reduce(0) { $0 + $1.samples } }
  }

  private static let always = Timestamp(microseconds: .min)..<Timestamp(microseconds: .max)

  /// The filter for the samples to delete. Time ranges apply to the start of a sample.
  public let filter: SampleFilter

  /// Creates the operation.
  ///
  /// - Parameter filter: ``SampleFilter/everything`` deletes the whole record.
  public init(_ filter: SampleFilter) {
    self.filter = filter
  }

  /// Counts the samples to delete, and changes nothing.
  public func plan(in store: HealthStore) async throws(StoreError) -> Plan {
    var plan = Plan()
    for entry in try await store.samples.typeCounts() where filter.passes(entry.type) {
      let count = try await store.samples.count(of: entry.type, in: filter.range, from: filter.sources)
      if count > 0 { plan.entries.append(.init(type: entry.type, samples: count)) }
    }
    plan.entries.sort { SampleType.utf8Order($0.type, $1.type) }
    return plan
  }

  /// Deletes the matching samples of the plan's types, in transactions of some thousands, each with its audit event.
  /// A cancelled operation has deleted some of them.
  ///
  /// - Parameter deleted: called with the number of deleted samples of each type. An error that it throws ends the
  ///   operation.
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
    // Stored rollups must no longer include the deleted samples.
    if Rollups.areKept(beside: store) { try await Rollups(of: store).refresh() }
  }
}
