import Foundation
import HealthFormats
import HealthModel
import HealthStore
import Synchronization

extension ExportFormat {
  /// As the Health app writes it, with the files beside the XML, zipped as the Health app shares it.
  public static let appleArchive = ExportFormat(
    "apple-zip", suffix: "zip", lack: "Apple's export has no element", takes: .offset
  ) { exporting, content in
    let (exported, offset) = (content.exported, content.options.offset)
    return try await exporting.writeAppleArchive(
      AppleExportWriter(exportDate: exported, offset: offset), exported: exported, offset: offset)
  }
}

extension Exporting {
  /// A zip file as the Health app shares it: the files beside the XML first, and then the XML, which names them.
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

  /// More make an XML that may have 4 GiB.
  private static let manySamples = 2_000_000

  /// Whether few samples may make as much: of no text the XML has more than eight times what the store has.
  private static func isLarge(_ store: HealthStore) -> Bool {
    let attributes = try? FileManager.default.attributesOfItem(atPath: store.path)
    return (attributes?[.size] as? Int ?? 0) > 512 * 1_024 * 1_024
  }
}

/// The zip file of an export, written by one task.
struct AppleArchive: Sendable {
  /// What only the thread of the output uses, piece after piece.
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

  /// Begins a file in the export's folder, and ends the one before.
  func begin(_ name: String, mayBeLarge: Bool = false) async throws {
    try await output.write { [contents] in
      contents.writer.withLock { writer in
        writer.endFile() + writer.begin("apple_health_export/\(name)", mayBeLarge: mayBeLarge)
      }
    }
  }

  /// More of the file that was begun last.
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
