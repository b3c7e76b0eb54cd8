import Foundation
import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem

/// Moves a file of samples that is not Apple's into the store, a transaction a batch.
struct SampleFileImport: Sendable {
  typealias Reading =
    @Sendable (
      _ progress: @escaping (Int64) throws -> Void, _ deliver: @escaping (SampleBatch) throws -> Void
    ) throws -> ImportReport

  let store: HealthStore
  let name: String
  var road = SampleRoad.file
  /// What reading it reports as progress when it is done.
  let totalBytes: Int64
  let policy: ImportPolicy
  let progress: any ProgressObserver
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
    let (admission, wasConfirmed) = try await policy.admit(person)
    let stage = progress.begin(ProgressStage(.importing, totalBytes: Int(totalBytes)))
    defer { stage.finish() }
    let (result, id) = try await onThread { isCancelled in
      let writer = try ImportWriter(
        store, named: name, confirmed: wasConfirmed ? person : nil, road: road, isCancelled: isCancelled)
      writer.admit(admission)
      var read: [SampleType: Int] = [:]
      var (records, readings) = (0, readings)
      let progress = { (bytes: Int64) in
        if isCancelled() { throw CancellationError() }
        stage.update(items: records, bytes: Int(bytes))
      }
      let deliver = { (batch: SampleBatch) in
        if isCancelled() { throw CancellationError() }
        try readings.add(batch)
        guard readings.person == person else { throw ImportRefusal.changedMeanwhile }
        try writer.write(batch.changes, readings: batch.readings)
        records += batch.count
        read.merge(batch.countsByType, uniquingKeysWith: +)
      }
      let report = try reading(progress, deliver)
      return (
        ImportResult(report: report, summary: writer.summary, read: read, mergedPersons: wasConfirmed), writer.id
      )
    }
    if id != 0 { try await store.imports.finish(id, digest: nil, isComplete: result.report.isComplete) }
    return result
  }
}
