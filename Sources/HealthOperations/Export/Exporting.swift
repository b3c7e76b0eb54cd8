import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem

/// Moves samples from the store into a file, in constant memory.
struct Exporting: Sendable {
  let reader: StoredSampleReader
  let plan: StoredSampleReader.Plan
  let sink: any ExportSink
  let stage: any StageObserver

  func run(_ writer: some SampleFileWriter) async throws -> ExportSummary {
    try await writing {
      var writer = writer
      var summary = ExportSummary()
      var bytes: [UInt8] = []
      writer.begin(into: &bytes)
      for type in plan.types {
        try await reader.codedPages(of: type) { page in
          do {
            try writer.append(page, to: &bytes)
          } catch let error as DecodingError {
            throw reader.store.damage(error)
          }
          try await flush(&bytes)
          summary.written += page.samples.count
          stage.advance(items: page.samples.count, bytes: 0)
        }
      }
      writer.end(into: &bytes)
      try await flush(&bytes)
      return summary
    }
  }

  // MARK: The sink

  /// A file is there when `body` has ended well; else nothing is left of it.
  func writing(_ body: () async throws -> ExportSummary) async throws -> ExportSummary {
    do {
      let summary = try await body()
      try await onThread { [sink] _ in try sink.finish() }
      return summary
    } catch {
      sink.discard()
      throw error
    }
  }

  func flush(_ bytes: inout [UInt8]) async throws {
    if bytes.isEmpty { return }
    let taken = bytes
    bytes.removeAll(keepingCapacity: true)
    try await onThread { [sink] _ in try sink.write(taken) }
  }
}
