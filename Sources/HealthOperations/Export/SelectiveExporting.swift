import HealthFormats
import HealthModel

extension ExportFormat {
  /// The JSON of the app HealthAppTransfer, version 1: an array of samples.
  public static let transferJSON1 = transfer("hat-json-v1", suffix: "json", .json1)
  /// The JSON of HealthAppTransfer, version 2: samples by type.
  public static let transferJSON2 = transfer("hat-json-v2", suffix: "json", .json2)
  /// The CSV table of HealthAppTransfer.
  public static let transferCSV = transfer("hat-csv", suffix: "csv", .csv, takes: .formulas)

  private static func transfer(
    _ name: String, suffix: String, _ form: HealthAppTransferWriter.Form, takes: Options = []
  ) -> ExportFormat {
    ExportFormat(name, suffix: suffix, lack: "HealthAppTransfer has no place", takes: takes) { exporting, content in
      let filter = content.filter
      return try await exporting.writeSome(
        HealthAppTransferWriter(
          form, exported: content.exported, range: (filter.earliest, filter.end),
          defusesFormulas: content.options.defusesFormulas))
    }
  }

  /// Workouts as events of a calendar (RFC 5545).
  public static let calendar = ExportFormat(
    "ics", suffix: "ics", subject: Subject(namedBy: [.workout], type: .workout), lack: "a calendar has no date",
    takes: .workouts
  ) { exporting, _ in
    try await exporting.writeSome(WorkoutCalendarWriter())
  }
}

extension Exporting {
  /// Writes the samples by type, and counts those that the format cannot hold.
  fileprivate func writeSome(_ writer: some SelectiveFileWriter) async throws -> ExportSummary {
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

  /// Passes each sample to `append`, and writes the buffer to the output as it fills.
  ///
  /// - Parameter append: returns `false` if the format cannot hold the sample, which is then counted as omitted.
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

  /// The buffer size in bytes at which the buffer is written before its page ends.
  private static var enough: Int { 1 << 20 }
}
