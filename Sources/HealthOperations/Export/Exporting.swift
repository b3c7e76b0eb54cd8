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
