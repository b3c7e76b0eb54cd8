import Foundation
import HealthFormats
import HealthModel
import HealthStore
import Synchronization

extension ExportFormat {
  /// The Health app's export format, zipped with the files beside the XML as the Health app shares it.
  public static let appleArchive = ExportFormat(
    "apple-zip", suffix: "zip", lack: "Apple's export has no element", takes: .offset
  ) { exporting, content in
    let (exported, offset) = (content.exported, content.options.offset)
    return try await exporting.writeAppleArchive(
      AppleExportWriter(exportDate: exported, offset: offset), exported: exported, offset: offset)
  }
}

extension Exporting {
  /// Writes a zip file as the Health app shares it: the files beside the XML first, then the XML, which names them.
  fileprivate func writeAppleArchive(
    _ writer: AppleExportWriter, exported: Timestamp, offset: Int
  ) async throws -> ExportSummary {
    try await writing {
      let archive = AppleArchive(output, exported: exported)
      var files = AppleSideFiles(self, archive, exported: exported, offset: offset)
      let routes = try await reader.routes()
      try await files.write(routes)
      try await archive.begin("export.xml", mayBeLarge: plan.samples > Self.manySamples || Self.isLarge(reader.store))
      let summary = try await write(writer, routes, beside: files) { try await archive.append(&$0) }
      try await archive.finish()
      return summary
    }
  }

  /// The number of samples above which the XML may exceed 4 GiB.
  private static let manySamples = 2_000_000

  /// Returns whether few samples may make the XML as large: it has up to eight times the bytes of a text in the
  /// store.
  private static func isLarge(_ store: HealthStore) -> Bool {
    let attributes = try? FileManager.default.attributesOfItem(atPath: store.path)
    return (attributes?[.size] as? Int ?? 0) > 512 * 1_024 * 1_024
  }
}

/// A zip file of an export, written by one task.
struct AppleArchive: Sendable {
  /// The zip writer, used only by the output's thread, piece after piece.
  private final class Contents: Sendable {
    let writer: Mutex<ZipWriter>

    init(_ modified: Timestamp) { writer = Mutex(ZipWriter(modified: modified)) }
  }

  private let output: OutputQueue
  private let contents: Contents

  init(_ output: OutputQueue, exported: Timestamp) {
    self.output = output
    contents = Contents(exported)
  }

  /// Ends the current file and begins another in the export's folder.
  func begin(_ name: String, mayBeLarge: Bool = false) async throws {
    try await output.write { [contents] in
      contents.writer.withLock { writer in
        writer.endFile() + writer.begin("apple_health_export/\(name)", mayBeLarge: mayBeLarge)
      }
    }
  }

  /// Appends bytes to the current file.
  func append(_ bytes: inout [UInt8]) async throws {
    if bytes.isEmpty { return }
    let taken = bytes
    bytes.removeAll(keepingCapacity: true)
    try await output.write { [contents] in contents.writer.withLock { $0.append(taken) } }
  }

  func finish() async throws {
    try await output.write { [contents] in
      contents.writer.withLock { writer in writer.endFile() + writer.finish() }
    }
  }
}
