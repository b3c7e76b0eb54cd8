import HealthFormats
import HealthModel
import OperatingSystem

/// Moves samples from the store into one file, in constant memory: an ``ExportFormat`` is a way to do that, in an extension of
/// this.
struct Exporting: Sendable {
  /// The samples of this file.
  let reader: StoredSampleReader
  let plan: StoredSampleReader.Plan
  /// The file, or another stream of bytes.
  let output: OutputQueue
  /// The file that ``output`` is, for who writes it without that; `nil` of a stream, and of one of several.
  var file: OutputFile?
  let stage: any StageObserver
  /// Whether a file is made in which there is nothing; of several, those are left out.
  var keepsEmpty = true

  // MARK: The output

  /// A file is there when `body` has ended well; else nothing is left of it.
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
