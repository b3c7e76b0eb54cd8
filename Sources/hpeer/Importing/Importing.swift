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
      let progress: (Int64) throws -> Void = { bytes in
        if isCancelled() { throw CancellationError() }
        bar.update(items: records, bytes: Int(bytes))
      }
      let survey = try export.survey(progress: progress)
      let report = try export.read(survey, batchSize: 50_000, progress: progress) { batch in
        if isCancelled() { throw CancellationError() }
        summary += try store.applyBlocking(try batch.changesByRank(), drifting: batch.drifting)
        records += batch.count + batch.drifting.count
        for (type, count) in batch.countsByType { read[type, default: 0] += count }
      }
      return ImportResult(report: report, summary: summary, read: read)
    }
  }
}
