import HealthFormats
import HealthModel
import OperatingSystem

/// An export of samples into one file, in constant memory. Each ``ExportFormat`` adds a writer.
struct Exporting: Sendable {
  /// The reader of the samples of this file.
  let reader: StoredSampleReader
  let plan: StoredSampleReader.Plan
  /// The queue that writes to the file or stream.
  let output: OutputQueue
  /// The file of ``output``, for a format that writes it directly; `nil` for a stream, and for one of several files.
  var file: OutputFile?
  let stage: any StageObserver
  /// Whether a file without content is kept. Of several files, empty ones are left out.
  var keepsEmpty = true

  // MARK: The output

  /// Runs `body` and completes the file. If `body` throws, nothing is left of the file.
  func writing(_ body: () async throws -> ExportSummary) async throws -> ExportSummary {
    do {
      let summary = try await body()
      if keepsEmpty || !summary.isEmpty { try await output.finish() } else { await output.discard() }
      return summary
    } catch {
      await output.discard()
      throw error
    }
  }

  func flush(_ bytes: inout [UInt8]) async throws {
    if bytes.isEmpty { return }
    let taken = bytes
    bytes.removeAll(keepingCapacity: true)
    try await output.write(taken)
  }
}

extension ExportFormat {
  /// hpeer's own format, which it can import again, in JSON.
  public static let json = ExportFormat("json", suffix: "json") { exporting, content in
    try await exporting.writeSamples(SampleJSONWriter(exported: content.exported))
  }

  /// hpeer's own format in CSV (RFC 4180).
  public static let csv = ExportFormat("csv", suffix: "csv") { exporting, _ in
    try await exporting.writeSamples(SampleCSVWriter())
  }
}

extension Exporting {
  fileprivate func writeSamples(_ writer: some SampleFileWriter) async throws -> ExportSummary {
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
}
