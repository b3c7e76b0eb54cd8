import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem

/// Brings back deleted samples of some types, from a file that has them, under new identities.
///
/// ```swift
/// func restore(
///   _ types: [SampleType], in range: Range<Timestamp>, of store: HealthStore, from path: String,
///   ask: (RestoreOperation.Plan) async -> Bool
/// ) async throws {
///   let source = try await ImportFile.recognised(at: path)
///   let operation = RestoreOperation(types, in: range, from: source, named: "export.zip")
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

    /// Without the types of which nothing was found.
    public let entries: [Entry]
    fileprivate let samples: FileSamples
  }

  /// Each once.
  public let types: [SampleType]
  /// Of starts, the end not included.
  public let range: Range<Timestamp>
  /// Read anew by ``plan(in:)`` and by ``run(_:in:)``: it must not change in between.
  public let source: ImportFile
  /// What the file is called in the audit log.
  public let name: String
  private let progress: any ProgressObserver

  /// - Parameters:
  ///   - types: each once.
  ///   - range: of starts, the end not included.
  ///   - source: what has the samples still.
  ///   - name: what the file is called in the audit log.
  public init(
    _ types: [SampleType], in range: Range<Timestamp>, from source: ImportFile, named name: String,
    progress: any ProgressObserver = NoProgress()
  ) {
    self.types = types
    self.range = range
    self.source = source
    self.name = name
    self.progress = progress
  }

  /// Looks for what can be brought back, and changes nothing.
  public func plan(in store: HealthStore) async throws -> Plan {
    let samples = try await FileSamples(source, for: store, progress: progress)
    let entries = try await onThread { [types, range] isCancelled in
      let restorers = types.map { SampleRestorer(store, type: $0, range: range) }
      try samples.forEach(.looking, isCancelled: isCancelled) { changes, twins in
        for restorer in restorers { try restorer.survey(changes, twins: twins) }
      }
      return zip(types, restorers).compactMap { type, restorer in
        restorer.extent.map { Plan.Entry(type: type, samples: restorer.found, extent: $0) }
      }
    }
    return Plan(entries: entries, samples: samples)
  }

  /// Brings back what the file has of the plan's types, a transaction a batch, each together with its audit event.
  /// Cancelled, what has come back stays, and the same again brings the rest.
  ///
  /// - Returns: how many came back, by type.
  public func run(_ plan: Plan, in store: HealthStore) async throws -> [SampleType: Int] {
    let (types, samples) = (plan.entries.map(\.type), plan.samples)
    return try await onThread { [range, name] isCancelled in
      let restorers = types.map {
        (
          type: $0,
          restorer: SampleRestorer(
            store, type: $0, range: range, isExport: samples.isExport, isCancelled: isCancelled)
        )
      }
      var restored: [SampleType: Int] = [:]
      try samples.forEach(.restoring, isCancelled: isCancelled) { changes, twins in
        for (type, restorer) in restorers {
          restored[type, default: 0] += try restorer.restore(changes, twins: twins) { count in
            AuditEvent(
              .restored,
              [
                "types": type.shortName, "from": range.lowerBound.iso8601, "to": range.upperBound.iso8601, "file": name,
                "count": String(count),
              ])
          }
        }
      }
      return restored
    }
  }
}
