import HealthFormats
import HealthModel

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
