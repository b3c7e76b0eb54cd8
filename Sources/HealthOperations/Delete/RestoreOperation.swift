import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem

/// Brings back the deleted samples that pass a filter, from a file that has them, under new identities.
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
  /// What is in the file, and deleted here.
  public struct Plan: Sendable {
    /// A type of which the file has something that is deleted here.
    public struct Entry: Hashable, Sendable {
      public var type: SampleType
      /// At least 1; a sample that the file has twice counts once.
      public var samples: Int
      /// From the first to the last start.
      public var extent: ClosedRange<Timestamp>
    }

    /// In the order of the types' identifiers, without those of which nothing was found.
    public let entries: [Entry]
    fileprivate let samples: FileSamples
  }

  /// What is brought back, as the file has it.
  public let filter: SampleFilter
  /// Read anew by ``plan(in:)`` and by ``run(_:in:)``: it must not change in between.
  public let source: ImportFile
  /// What the file is called in the audit log.
  public let name: String
  private let progress: any ProgressObserver

  /// - Parameters:
  ///   - filter: ``SampleFilter/everything`` brings back all that was ever deleted.
  ///   - source: what has the samples still.
  ///   - name: what the file is called in the audit log.
  public init(
    _ filter: SampleFilter, from source: ImportFile, named name: String, progress: any ProgressObserver = NoProgress()
  ) {
    self.filter = filter
    self.source = source
    self.name = name
    self.progress = progress
  }

  /// Looks for what can be brought back, and changes nothing.
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

  /// Brings back what the file has of the plan's types, a transaction a batch, each together with its audit event.
  /// Cancelled, what has come back stays, and the same again brings the rest.
  ///
  /// - Returns: how many came back, by type.
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
