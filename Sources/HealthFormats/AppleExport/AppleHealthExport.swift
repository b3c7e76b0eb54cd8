import Foundation
import HealthModel

/// An Apple Health export: the zip file that the Health app shares, the XML file in it, or the unpacked folder.
///
/// What a file is, is told by its content: names are localised, and people rename and unpack.
///
///     let export = try AppleHealthExport(path: "export.zip")
///     let survey = try export.survey()
///     let report = try export.read(survey) { batch in try store.apply(batch.changesByRank()) }
public struct AppleHealthExport: Sendable {
  enum Origin: Sendable {
    case file(path: String)
    case zip(path: String, index: UInt64)
    /// In a zip file without a table of contents that is of use.
    case salvaged(path: String, entry: ZipSalvage.Entry, isCutOff: Bool)
    case memory([UInt8])
  }

  let origin: Origin
  /// What was noticed when the XML was looked for.
  let remarks: [String]
  /// The size of the XML, uncompressed.
  public let totalBytes: Int64
  /// Where the XML was found: a path, and for a zip file the name in it.
  public let location: String
  /// Whether the zip file or folder holds others too; see ``all(at:)``.
  let isOneOfSeveral: Bool

  /// What progress grows to: the XML is read twice, once by ``survey(progress:)`` and once by
  /// ``read(_:identityNames:batchSize:progress:deliver:)``.
  public var workBytes: Int64 { 2 * totalBytes }

  /// Recognises the export at `path`; of several in one zip file or folder, the one with the largest XML.
  public init(path: String) throws(ImportError) {
    self = try ExportLocator.locate(path)[0]
  }

  /// All exports in the zip file or folder at `path`, at least one: people keep an earlier one beside a later one.
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

  /// Looks over the whole export, in constant memory: counts it, checks its checksum, and finds the records that agree
  /// in all that identities are made of. Blocks: call it on a thread of your own.
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
  /// Records that agree in all that identities are made of are ranked by their values and come last, so that the order
  /// in the file does not matter.
  ///
  /// - Parameters:
  ///   - survey: what ``survey(progress:)`` found.
  ///   - identityNames: by the name of a source in the file, the name that identities are made with, for a source that
  ///     bore another name in earlier exports. Samples keep the name that is in the file.
  ///   - batchSize: the most samples in one batch, unless a single group of equals is larger.
  ///   - progress: called now and then with a number that grows from ``totalBytes`` to ``workBytes``; may throw to
  ///     stop.
  ///   - deliver: takes the samples, while the next are being read; may block, which holds the reading up, and may
  ///     throw to stop.
  /// - Returns: what was found. ``ImportReport/isComplete`` is false for a file that ends early: all that was whole
  ///   has been delivered.
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

  /// The files that lie beside the XML. Opens what they lie in, for one thread.
  func folder() throws(ImportError) -> any ExportFolder {
    switch origin {
    case .memory: EmptyFolder()
    case .file(let path): try DirectoryFolder(beside: path)
    case .zip(let path, let index): try ZipFolder(path: path, beside: index)
    case .salvaged(let path, let entry, _): try SalvagedFolder(path: path, beside: entry)
    }
  }

  /// Whether the zip file ends in the middle, be the XML in it whole or not.
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
