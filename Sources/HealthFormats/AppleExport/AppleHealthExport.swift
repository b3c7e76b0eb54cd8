import Foundation
import HealthModel

/// An Apple Health export: the zip file that the Health app shares, the XML file in it, or the unpacked folder.
///
/// Files are recognised by their content, because names are localised, and people rename and unpack files.
///
///     let export = try AppleHealthExport(path: "export.zip")
///     let survey = try export.survey()
///     let report = try export.read(survey) { batch in try store.apply(batch.changesByRank()) }
public struct AppleHealthExport: Sendable {
  enum Origin: Sendable {
    case file(path: String)
    case zip(path: String, index: UInt64)
    /// An entry of a zip file without a usable table of contents.
    case salvaged(path: String, entry: ZipSalvage.Entry, isCutOff: Bool)
    case memory([UInt8])
  }

  let origin: Origin
  /// Remarks from the search for the XML, for the import report.
  let remarks: [String]
  /// The size of the XML, uncompressed.
  public let totalBytes: Int64
  /// The location of the XML: a path and, in a zip file, the name of the entry.
  public let location: String
  /// Whether the zip file or folder holds further exports; see ``all(at:)``.
  let isOneOfSeveral: Bool

  /// The total that progress counts up to. The XML is read twice, once by ``survey(progress:)`` and once by
  /// ``read(_:identityNames:batchSize:progress:deliver:)``.
  public var workBytes: Int64 { 2 * totalBytes }

  /// Opens the export at `path`. If a zip file or folder holds several, opens the one with the largest XML.
  public init(path: String) throws(ImportError) {
    self = try ExportLocator.locate(path)[0]
  }

  /// Returns all exports in the zip file or folder at `path`, at least one. People keep older exports next to newer
  /// ones.
  public static func all(at path: String) throws(ImportError) -> [AppleHealthExport] {
    try ExportLocator.locate(path)
  }

  init(
    origin: Origin, totalBytes: Int64, location: String, remarks: [String] = [], isOneOfSeveral: Bool = false
  ) {
    self.origin = origin
    self.totalBytes = totalBytes
    self.location = location
    self.remarks = remarks
    self.isOneOfSeveral = isOneOfSeveral
  }

  /// Scans the whole export in constant memory: counts its elements, verifies its checksum, and finds the records
  /// whose identity keys are not unique. Blocks: call it on a thread of your own.
  ///
  /// - Parameter progress: called now and then with a number that grows to ``totalBytes``; may throw to stop.
  /// - Throws: ``ImportError``, or what the closure throws.
  public func survey(progress: (_ bytes: Int64) throws -> Void = { _ in }) throws -> ExportSurvey {
    try survey(chunkSize: Self.chunkSize, progress: progress)
  }

  func survey(chunkSize: Int, progress: (Int64) throws -> Void = { _ in }) throws -> ExportSurvey {
    let pass = SurveyPass(source: try source(), chunkSize: chunkSize, totalBytes: totalBytes)
    guard var survey = try pass.run(progress: progress) else { throw noRoot }
    if isCutOff { survey.isComplete = false }
    return survey
  }

  /// Reads the export in constant memory, on threads of its own. Blocks: call it on a thread of your own.
  ///
  /// Records with equal identity keys are ranked by their values and delivered last, so that their order in the file
  /// does not matter.
  ///
  /// - Parameters:
  ///   - survey: the result of ``survey(progress:)``.
  ///   - identityNames: the source name to use in identities, by source name in the file, for sources that had
  ///     another name in earlier exports. Samples keep the name in the file.
  ///   - batchSize: the maximum number of samples in a batch, unless a single group of records with equal keys is
  ///     larger.
  ///   - progress: called now and then with a number that grows from ``totalBytes`` to ``workBytes``; may throw to
  ///     stop.
  ///   - deliver: receives the samples while the next ones are being read. May block, which pauses reading, and may
  ///     throw to stop.
  /// - Returns: a report of the import. ``ImportReport/isComplete`` is false for a file that ends early; everything
  ///   before its end that was whole has been delivered.
  /// - Throws: ``ImportError``, or what the closures throw.
  public func read(
    _ survey: ExportSurvey, identityNames: [String: String] = [:], batchSize: Int = 10_000,
    progress: (_ bytes: Int64) throws -> Void = { _ in }, deliver: (ImportBatch) throws -> Void
  ) throws -> ImportReport {
    try read(
      survey, identityNames: identityNames, batchSize: batchSize, chunkSize: Self.chunkSize, progress: progress,
      deliver: deliver)
  }

  func read(
    _ survey: ExportSurvey, identityNames: [String: String], batchSize: Int, chunkSize: Int,
    progress: (Int64) throws -> Void, deliver: (ImportBatch) throws -> Void
  ) throws -> ImportReport {
    let queue = BatchQueue<ReadBatch>()
    Thread.detachNewThread {
      queue.end(
        Result {
          var reader = SampleReader(
            source: try source(), chunkSize: chunkSize, batchSize: batchSize, survey: survey,
            identityNames: identityNames, folder: try folder(), queue: queue)
          return try reader.run(progressBase: totalBytes)
        })
    }
    var hasDelivered = false
    do {
      while true {
        switch queue.next() {
        case .progress(let bytes): try progress(bytes)
        case .batch(let batch):
          hasDelivered = true
          try deliver(try batch.finished())
        case .end(.success(let report)):
          guard var report else { throw noRoot }
          if isCutOff { report.isComplete = false }
          for remark in remarks { report.remarks[remark] = ImportReport.Finding(count: 1) }
          return report
        case .end(.failure(let error)):
          throw hasDelivered ? (error as? ImportError)?.afterDelivery ?? error : error
        }
      }
    } catch {
      queue.cancel()
      throw error
    }
  }

  /// Opens the folder or archive of the files beside the XML, for use by one thread.
  func folder() throws(ImportError) -> any ExportFolder {
    switch origin {
    case .memory: EmptyFolder()
    case .file(let path): try DirectoryFolder(beside: path)
    case .zip(let path, let index): try ZipFolder(path: path, beside: index)
    case .salvaged(let path, let entry, _): try SalvagedFolder(path: path, beside: entry)
    }
  }

  /// Whether the zip file is truncated, even if the XML in it is whole.
  private var isCutOff: Bool {
    if case .salvaged(_, _, let isCutOff) = origin { isCutOff } else { false }
  }

  private static let chunkSize = 512 << 10

  private var noRoot: ImportError {
    if case .salvaged(let path, _, true) = origin {
      return .damagedZip(path: path, detail: "it ends before the first sample", someKept: false)
    }
    return .notAnExport(path: location, looksLike: "an XML file without HealthData")
  }

  private func source() throws(ImportError) -> any ByteSource {
    switch origin {
    case .memory(let bytes): return MemorySource(bytes)
    case .salvaged(let path, let entry, _): return ReadAhead(try ZipSalvage.source(of: entry, path: path))
    case .file(let path): return SizedSource(try FileSource(path: path), path: path, size: totalBytes)
    case .zip(let path, let index):
      let archive = try ZipArchive(path: path)
      guard let entry = try archive.entries().first(where: { $0.index == index }), entry.largeSize.likely == totalBytes
      else {
        throw .changedWhileReading(path: path)
      }
      return ReadAhead(try archive.source(of: entry, size: entry.largeSize))
    }
  }
}
