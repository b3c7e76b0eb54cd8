import Foundation
import HealthFormats
import HealthModel
import HealthStore
import Terminal

/// What an import did.
struct ImportResult: Sendable {
  var report: ImportReport
  var summary = WriteSummary()
  /// Samples read, by type.
  var read: [SampleType: Int] = [:]
}

/// Moves an export into the store, a transaction a batch.
struct Importing {
  let export: AppleHealthExport
  let store: HealthStore
  let bar: ProgressBar

  func run() async throws -> ImportResult {
    try await onThread { isCancelled in
      var summary = WriteSummary()
      var read: [SampleType: Int] = [:]
      var records = 0
      let report = try export.read(
        batchSize: 50_000,
        progress: { bytes in
          if isCancelled() { throw CancellationError() }
          bar.update(items: records, bytes: Int(bytes))
        },
        deliver: { batch in
          if isCancelled() { throw CancellationError() }
          let written = try store.applyBlocking(ChangeBatch(additions: batch.samples), drifting: batch.drifting)
          summary += written
          records += batch.samples.count + batch.drifting.count
          for sample in batch.samples { read[sample.type, default: 0] += 1 }
          for sample in batch.drifting { read[sample.type, default: 0] += 1 }
        })
      return ImportResult(report: report, summary: summary, read: read)
    }
  }
}
