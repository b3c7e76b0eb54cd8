import HealthFormats
import HealthModel
import HealthStore
import OperatingSystem
import Terminal

/// What an export did.
struct ExportSummary: Sendable {
  var written = 0
  /// By type.
  var omitted: [SampleType: Int] = [:]
  /// Routes in an Apple export's workouts.
  var routes = 0
  /// Samples of which Apple's export keeps a part in files beside the XML.
  var partial = 0
}

/// Moves samples from the store into a file, in constant memory.
struct Exporting: Sendable {
  let reader: StoredSampleReader
  let plan: StoredSampleReader.Plan
  let file: OutputFile
  let bar: ProgressBar

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
          bar.advance(items: page.samples.count)
        }
      }
      writer.end(into: &bytes)
      try await flush(&bytes)
      return summary
    }
  }

  // MARK: The file

  /// The file is there when `body` has ended well; else nothing is left of it.
  func writing(_ body: () async throws -> ExportSummary) async throws -> ExportSummary {
    do {
      let summary = try await body()
      try await onThread { [file] _ in try file.finish() }
      return summary
    } catch {
      file.discard()
      throw error
    }
  }

  func flush(_ bytes: inout [UInt8]) async throws {
    if bytes.isEmpty { return }
    let taken = bytes
    bytes.removeAll(keepingCapacity: true)
    try await onThread { [file] _ in try file.write(taken) }
  }
}
