import HealthFormats
import HealthModel

extension Exporting {
  /// Type by type; what the format has no place for is counted.
  func run(selective writer: some SelectiveFileWriter) async throws -> ExportSummary {
    try await writing {
      var writer = writer
      var summary = ExportSummary()
      var bytes: [UInt8] = []
      writer.begin(into: &bytes)
      for type in plan.types {
        try await reader.pages(of: type) { page in
          for sample in page {
            if writer.append(sample, members: try await reader.members(of: sample), to: &bytes) {
              summary.written += 1
            } else {
              summary.omitted[type, default: 0] += 1
            }
          }
          try await flush(&bytes)
          stage.advance(items: page.count, bytes: 0)
        }
      }
      writer.end(into: &bytes)
      try await flush(&bytes)
      return summary
    }
  }
}
