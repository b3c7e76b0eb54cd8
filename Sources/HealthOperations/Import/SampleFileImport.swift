import Foundation
import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem

/// An import of a file of samples that is not an Apple Health export, one transaction per batch.
struct SampleFileImport: Sendable {
  let file: any RecordFormat
  let reading: ReadingOptions
  let name: String
  let store: HealthStore
  let policy: ImportPolicy
  let progress: any ProgressObserver

  func run() async throws -> ImportResult {
    let readings = try await onThread { [file] isCancelled in
      try file.personReadings { _ in
        if isCancelled() { throw CancellationError() }
      }
    }
    let person = readings.person
    let (admission, wasConfirmed) = try await policy.admit(person)
    let stage = progress.begin(ProgressStage(.importing, totalBytes: Int(file.workBytes)))
    defer { stage.finish() }
    let (result, id) = try await onThread { isCancelled in
      let writer = try ImportWriter(
        store, named: name, confirmed: wasConfirmed ? person : nil, road: file.road, isCancelled: isCancelled)
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
        read.merge(batch.countsByType, uniquingKeysWith: +)
        try ImportOperation.requireFewTypes(read.count)
        try writer.write(batch.changes, readings: batch.readings)
        records += batch.count
      }
      let report = try file.read(reading, progress: progress, deliver: deliver)
      return (
        ImportResult(report: report, summary: writer.summary, read: read, mergedPersons: wasConfirmed), writer.id
      )
    }
    if id != 0 { try await store.imports.finish(id, digest: nil, isComplete: result.report.isComplete) }
    return result
  }
}
