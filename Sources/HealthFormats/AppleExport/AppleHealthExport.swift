import Foundation
import HealthModel

/// An Apple Health export: the zip file that the Health app shares, the XML file in it, or the unpacked folder.
///
/// What a file is, is told by its content: names are localised, and people rename and unpack.
///
///     let export = try AppleHealthExport(path: "export.zip")
///     let report = try export.read { batch in try store.add(batch.samples) }
public struct AppleHealthExport: Sendable {
  enum Origin: Sendable {
    case file(path: String)
    case zip(path: String, index: UInt64)
    case memory([UInt8])
  }

  let origin: Origin
  /// The size of the XML, uncompressed.
  public let totalBytes: Int64
  /// Where the XML was found: a path, and for a zip file the name in it.
  public let location: String

  /// What ``read(batchSize:progress:deliver:)`` reports when it is done: the XML is read twice.
  public var workBytes: Int64 { 2 * totalBytes }

  /// Recognises the export at `path`.
  public init(path: String) throws(ImportError) {
    self = try ExportLocator.locate(path)
  }

  init(origin: Origin, totalBytes: Int64, location: String) {
    self.origin = origin
    self.totalBytes = totalBytes
    self.location = location
  }

  /// Reads the export in constant memory. Blocks: call it on a thread of your own.
  ///
  /// A first pass finds the records that agree in all that identities are made of; the second makes samples. Those
  /// that agree are ranked by their values and come last, so that the order in the file does not matter.
  ///
  /// - Parameters:
  ///   - batchSize: the most samples in one batch.
  ///   - progress: called now and then with a number that grows to ``workBytes``; may throw to stop.
  ///   - deliver: takes the samples; may block, which holds the reading up, and may throw to stop.
  /// - Returns: what was found. ``ImportReport/isComplete`` is false for a file that ends early: all that was whole
  ///   has been delivered.
  /// - Throws: ``ImportError``, or what the closures throw.
  public func read(
    batchSize: Int = 10_000, progress: (_ bytes: Int64) throws -> Void = { _ in },
    deliver: (ImportBatch) throws -> Void
  ) throws -> ImportReport {
    try read(batchSize: batchSize, chunkSize: 512 << 10, progress: progress, deliver: deliver)
  }

  func read(
    batchSize: Int, chunkSize: Int, progress: (Int64) throws -> Void = { _ in },
    deliver: (ImportBatch) throws -> Void
  ) throws -> ImportReport {
    let keys = KeyPass(source: try source(), chunkSize: chunkSize, totalBytes: totalBytes)
    guard let suspects = try keys.run(progress: progress) else { throw noRoot }
    var reader = SampleReader(
      source: try source(), chunkSize: chunkSize, batchSize: batchSize, suspects: suspects)
    do {
      let report = try reader.run(progressBase: totalBytes, progress: progress, deliver: deliver)
      guard let report else { throw noRoot }
      return report
    } catch let error as ImportError {
      throw reader.hasDelivered ? error.afterDelivery : error
    }
  }

  private var noRoot: ImportError { .notAnExport(path: location, looksLike: "an XML file without HealthData") }

  private func source() throws(ImportError) -> any ByteSource {
    switch origin {
    case .memory(let bytes): return MemorySource(bytes)
    case .file(let path): return SizedSource(try FileSource(path: path), path: path, size: totalBytes)
    case .zip(let path, let index):
      let archive = try ZipArchive(path: path)
      guard let entry = try archive.entries().first(where: { $0.index == index }), entry.size == totalBytes else {
        throw .changedWhileReading(path: path)
      }
      return ReadAhead(try archive.source(of: entry))
    }
  }
}
