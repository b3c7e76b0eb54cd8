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

/// What an export is written to.
public protocol ExportSink: Sendable {
  /// Takes the next bytes. May block, and is called from a thread of its own.
  func write(_ bytes: [UInt8]) throws
  /// All has been written. May block.
  func finish() throws
  /// The export has failed; may be called after ``finish()``, and more than once.
  func discard()
}

/// Why a file cannot be written.
public enum ExportError: Error, Hashable, Sendable {
  /// The path names a folder; a file in it must be named.
  case isFolder(path: String)
  /// Something has this name and may not be replaced: found before anything was written, or come there since, and then
  /// nothing of the export is left. Another name helps, or to allow that it is replaced.
  case alreadyThere(path: String)
  /// The format is a file that is not written from its beginning to its end, and cannot be a stream.
  case needsFile(ExportFormat)
  /// The disk has no room, or the user's quota has none. Nothing of the export is left: make room, and export again.
  case diskFull(path: String)
  /// - Parameter reason: the system's words.
  case unwritable(path: String, reason: String)
}
