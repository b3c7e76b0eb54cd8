import Foundation
import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem
import Terminal

/// Moves a file of samples that is not Apple's into the store, a transaction a batch.
struct ImportingFile {
  typealias Reading =
    @Sendable (
      _ progress: @escaping (Int64) throws -> Void, _ deliver: @escaping (SampleBatch) throws -> Void
    ) throws -> ImportReport

  let store: HealthStore
  let name: String
  let bar: ProgressBar
  /// Takes in what is another person's.
  let mergesPersons: Bool
  /// Whose the samples are.
  let person: @Sendable (_ progress: @escaping (Int64) throws -> Void) throws -> PersonReadings
  let reading: Reading

  func run() async throws -> ImportResult {
    let readings = try await onThread { isCancelled in
      try self.person { _ in
        if isCancelled() { throw CancellationError() }
      }
    }
    let person = readings.person
    let (admission, wasConfirmed) = try await PersonGuard(store: store, merges: mergesPersons).admit(person)
    let (result, id) = try await onThread { isCancelled in
      let writer = try ImportWriter(store, named: name, confirmed: wasConfirmed ? person : nil)
      writer.admit(admission)
      var read: [SampleType: Int] = [:]
      var (records, readings) = (0, readings)
      let progress = { (bytes: Int64) in
        if isCancelled() { throw CancellationError() }
        bar.update(items: records, bytes: Int(bytes))
      }
      let deliver = { (batch: SampleBatch) in
        if isCancelled() { throw CancellationError() }
        try readings.add(batch)
        guard readings.person == person else { throw Self.changed }
        try writer.write(batch.changes, drifting: batch.drifting)
        records += batch.count
        read.merge(batch.countsByType, uniquingKeysWith: +)
      }
      let report = try reading(progress, deliver)
      return (
        ImportResult(report: report, summary: writer.summary, read: read, mergedPersons: wasConfirmed), writer.id
      )
    }
    if id != 0 { try await store.finishImport(id, digest: nil, isComplete: result.report.isComplete) }
    return result
  }

  private static let changed = CommandFailure(
    .badInput,
    "This file says now that it is another person's than it said a moment ago, so no more of it was imported: wait until nothing writes into it any more, then import it again."
  )
}
