import Foundation
import HealthModel

@testable import HealthFormats

extension FuzzTarget {
  /// Fuzzes the reader of Apple's export. The first byte determines whether a root element is added, and the sizes of
  /// chunks and batches.
  @Sendable static func appleXML(_ input: [UInt8]) {
    guard let seed = input.first else { return }
    var export = Array(input.dropFirst())
    if seed & 1 == 1 { export = Array("<HealthData locale=\"en_DE\">".utf8) + export + Array("</HealthData>".utf8) }
    let whole = ExportReading(export, chunkSize: 1 << 16, batchSize: 10_000)
    let divided = ExportReading(export, chunkSize: 1 + Int(seed >> 1) % 61, batchSize: 1 + Int(seed >> 5))
    require(whole == divided, "the same in other chunks:\n\(whole)\n\(divided)")
    for sample in whole.samples + whole.readings {
      requireRoundTrip(sample)
      _ = sample.canonicalValue
    }
  }

  /// The complete result of reading an export.
  private struct ExportReading: Equatable {
    var samples: [Sample] = []
    var readings: [Sample] = []
    var report: ImportReport?
    var error: ImportError?

    init(_ bytes: [UInt8], chunkSize: Int, batchSize: Int) {
      let export = AppleHealthExport(origin: .memory(bytes), totalBytes: Int64(bytes.count), location: "memory")
      var (samples, readings): ([Sample], [Sample]) = ([], [])
      do {
        let survey = try export.survey(chunkSize: chunkSize)
        report = try export.read(
          survey, identityNames: [:], batchSize: batchSize, chunkSize: chunkSize, progress: { _ in },
          deliver: { batch in
            for changes in try batch.changesByRank() {
              let expander = try ChangeExpander(changes)
              for row in changes.samples {
                let sample = try expander.sample(row)
                var coder = ChangeCoder()
                try coder.add(sample)
                let again = coder.changes
                require(row.metadata.map { changes.metadata[Int($0)] } == again.metadata.first, "canonical metadata")
                require(row.payload.map { changes.payloads[Int($0)] } == again.payloads.first, "a canonical payload")
                samples.append(sample)
              }
            }
            readings += batch.readings
          })
        require(survey.isComplete == report?.isComplete, "the same in both passes")
      } catch {
        guard let error = error as? ImportError else { fatalError("broken promise: a documented error: \(error)") }
        self.error = error
      }
      // A batch more or less may have been delivered before an error.
      if error == nil { (self.samples, self.readings) = (samples, readings) }
    }
  }
}
