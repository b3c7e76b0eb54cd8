import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem

/// An operation that restores deleted samples that pass a filter from a file, under new UUIDs.
///
/// ```swift
/// func restore(
///   _ samples: SampleFilter, of store: HealthStore, from path: String,
///   ask: (RestoreOperation.Plan) async -> Bool
/// ) async throws {
///   let source = try await ImportFile.recognised(at: path)
///   let operation = RestoreOperation(samples, from: source, named: "export.zip")
///   let plan = try await operation.plan(in: store)
///   guard await ask(plan) else { return }
///   for (type, count) in try await operation.run(plan, in: store) { print(count, "of", type.shortName) }
/// }
/// ```
///
/// Reads the file twice, so it must not be a pipe.
public struct RestoreOperation: Sendable {
  /// The samples in the file that are deleted in the store.
  public struct Plan: Sendable {
    /// A type that has samples to restore.
    public struct Entry: Hashable, Sendable {
      public var type: SampleType
      /// The number of samples, at least 1. A duplicate in the file counts once.
      public var samples: Int
      /// The range from the first start to the last.
      public var extent: ClosedRange<Timestamp>
    }

    /// The types in the order of their identifiers, without those that have nothing to restore.
    public let entries: [Entry]
    fileprivate let samples: FileSamples
  }

  /// The filter for the samples to restore, applied to the samples in the file.
  public let filter: SampleFilter
  /// The file, read by ``plan(in:)`` and again by ``run(_:in:)``. It must not change in between.
  public let source: ImportFile
  /// The name of the file in the audit log.
  public let name: String
  private let progress: any ProgressObserver

  /// Creates the operation.
  ///
  /// - Parameters:
  ///   - filter: ``SampleFilter/everything`` restores everything that was ever deleted.
  ///   - source: the file that still has the samples.
  ///   - name: the name of the file in the audit log.
  public init(
    _ filter: SampleFilter, from source: ImportFile, named name: String, progress: any ProgressObserver = NoProgress()
  ) {
    self.filter = filter
    self.source = source
    self.name = name
    self.progress = progress
  }

  /// Searches the file for samples that can be restored, and changes nothing.
  public func plan(in store: HealthStore) async throws -> Plan {
    let samples = try await FileSamples(source, for: store, progress: progress)
    let entries = try await onThread { [filter] isCancelled in
      let restorer = SampleRestorer(store, filter)
      try samples.forEach(.looking, isCancelled: isCancelled) { changes, twins in
        try restorer.survey(changes, twins: twins)
      }
      return restorer.extents.sorted { SampleType.utf8Order($0.key, $1.key) }.map { type, extent in
        Plan.Entry(type: type, samples: restorer.found(type), extent: extent)
      }
    }
    return Plan(entries: entries, samples: samples)
  }

  /// Restores the samples of the plan's types, one transaction per batch, each with its audit event. If it is
  /// cancelled, the restored samples stay, and running it again restores the rest.
  ///
  /// - Returns: the number of restored samples, by type.
  public func run(_ plan: Plan, in store: HealthStore) async throws -> [SampleType: Int] {
    let samples = plan.samples
    var some = filter
    some.types = Set(plan.entries.map(\.type))
    return try await onThread { [some, detail] isCancelled in
      let restorer = SampleRestorer(store, some, isExport: samples.isExport, isCancelled: isCancelled)
      var restored: [SampleType: Int] = [:]
      try samples.forEach(.restoring, isCancelled: isCancelled) { changes, twins in
        let summary = try restorer.restore(changes, twins: twins) { type, count in
          AuditEvent(.restored, detail.merging(["types": type.shortName, "count": String(count)]) { $1 })
        }
        for (type, counts) in summary.types { restored[type, default: 0] += counts.added }
      }
      return restored
    }
  }

  private var detail: [String: String] {
    var detail = ["file": name]
    detail["from"] = filter.earliest?.iso8601
    detail["to"] = filter.end?.iso8601
    detail["sources"] = filter.sourceList
    return detail
  }
}
