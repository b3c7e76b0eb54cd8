import HealthModel
import HealthStore

/// Deletes the samples of some types that start within a range. Tombstones remain, which travel to whoever pulls.
///
///     let plan = try await operation.plan(in: store)
///     guard await ask(plan) else { return }
///     try await operation.run(plan, in: store)
public struct DeleteOperation: Sendable {
  /// How many samples there are to delete, of each type that has any.
  public struct Plan: Hashable, Sendable {
    public struct Entry: Hashable, Sendable {
      public var type: SampleType
      public var samples: Int
    }

    public fileprivate(set) var entries: [Entry] = []

    public var samples: Int { entries.reduce(0) { $0 + $1.samples } }
  }

  /// Each once.
  public let types: [SampleType]
  public let range: Range<Timestamp>

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
