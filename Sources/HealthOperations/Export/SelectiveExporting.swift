import HealthFormats
import HealthModel

extension Exporting {
  /// Type by type; what the format has no place for is counted.
  func run(selective writer: some SelectiveFileWriter) async throws -> ExportSummary {
    try await writing {
      var writer = writer
      var bytes: [UInt8] = []
      writer.begin(into: &bytes)
      let summary = try await appendSamples(to: &bytes) { sample, bytes in
        writer.append(sample, members: try await reader.members(of: sample), to: &bytes)
      }
      writer.end(into: &bytes)
      try await flush(&bytes)
      return summary
    }
  }

  /// Hands over sample by sample, and writes out what has come together.
  ///
  /// - Parameter append: returns false for what the format has no place for, which is counted.
  func appendSamples(
    to bytes: inout [UInt8], _ append: (Sample, inout [UInt8]) async throws -> Bool
  ) async throws -> ExportSummary {
    var summary = ExportSummary()
    for type in plan.types {
      try await reader.pages(of: type) { page in
        for sample in page {
          if try await append(sample, &bytes) {
            summary.written += 1
          } else {
            summary.omitted[type, default: 0] += 1
          }
          if bytes.count >= Self.enough { try await flush(&bytes) }
        }
        try await flush(&bytes)
        stage.advance(items: page.count, bytes: 0)
      }
    }
    return summary
  }

  /// Bytes at which the buffer is written out before its page ends.
  private static var enough: Int { 1 << 20 }
}
