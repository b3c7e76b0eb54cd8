import Foundation
import HealthModel

/// A folder of day files in HealthPush's layout, written by that app or by hpeer:
/// `v1/METRIC_KEY/YYYY/MM/DD/data.jsonl`, `.json` or `.csv`.
///
/// ```swift
/// func count(_ path: String) throws -> Int {
///   guard let folder = HealthPushFolder(at: path) else { return 0 }
///   var count = 0
///   _ = try folder.read(repairsUnits: false) { count += $0.count }
///   return count
/// }
/// ```
///
/// Records that hpeer wrote are complete samples. HealthPush's daily sums have a type of their own
/// (`healthpush.steps`), because their samples may also arrive another way. Records marked as deleted are skipped.
public struct HealthPushFolder: RecordFormat {
  /// The path as the person gave it, for messages.
  public let path: String
  /// The day files, sorted by name.
  private let files: [DayFile]
  /// The total size of all files when they were found.
  public let totalBytes: Int64

  private struct DayFile: Sendable {
    /// The path relative to the folder.
    var name: String
    var key: String
    var size: Int64
    var modified: Timestamp
  }

  /// Finds the day files in a folder, or returns `nil` if there are none. Blocking.
  public init?(at path: String) {
    guard let names = FileManager.default.enumerator(atPath: "\(path)/v1") else { return nil }
    var files: [DayFile] = []
    for case let name as String in names {
      var status = stat()
      guard let key = Self.key(of: "v1/\(name)"), lstat("\(path)/v1/\(name)", &status) == 0,
        status.st_mode & S_IFMT == S_IFREG
      else { continue }
      files.append(
        DayFile(
          name: "v1/\(name)", key: key, size: Int64(status.st_size),
          modified: Timestamp(seconds: Int64(status.st_mtim.tv_sec))))
    }
    guard !files.isEmpty else { return nil }
    self.path = path
    self.files = files.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    totalBytes = files.reduce(0) { $0 + $1.size }
  }

  public static func recognise(_ candidate: ImportCandidate) -> HealthPushFolder? {
    candidate.file == nil ? HealthPushFolder(at: candidate.path) : nil
  }

  /// The ``SampleRoad`` of a file, because records that hpeer wrote are complete samples.
  public var road: SampleRoad { .file }

  public var workBytes: Int64 { totalBytes }

  /// Returns the metric's key from the name of a day file, such as `heart_rate` from
  /// `v1/heart_rate/2024/06/15/data.jsonl`. Returns `nil` for any other name, including names that would lead out of
  /// the folder.
  public static func key(of name: String) -> String? {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 6, parts[0] == "v1", ["data.jsonl", "data.json", "data.csv"].contains(parts[5]),
      parts[2...4].allSatisfy({ part in
        (2...7).contains(part.utf8.count)
          && part.utf8.allSatisfy { (0x30...0x39).contains($0) || "+-".utf8.contains($0) }
      }),
      !parts[1].isEmpty, parts[1] != ".", parts[1] != "..", parts[1].utf8.count <= 200,
      parts[1].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { return nil }
    return parts[1]
  }

  // MARK: Reading

  /// Returns the details that identify the person, reading only the files of characteristics. Blocking.
  public func personReadings(progress: @escaping (_ bytes: Int64) throws -> Void) throws -> PersonReadings {
    var readings = PersonReadings()
    let keys = Set(Self.traits.values)
    _ = try read(files.filter { keys.contains($0.key) }, repairsUnits: false, batchSize: 1_000, progress) {
      try readings.add($0)
    }
    return readings
  }

  /// Reads all files, in constant memory. Blocking: call it on a thread of your own.
  ///
  /// A file that cannot be read to its end is reported in ``ImportReport/skipped``; the next file is then read.
  ///
  /// - Parameters:
  ///   - repairsUnits: whether HealthPush's six wrong units are corrected in records that hpeer did not write.
  ///   - progress: called from time to time with the number of bytes read; may throw to stop.
  /// - Throws: ``ImportError`` if a file has disappeared, or what the closures throw.
  public func read(
    repairsUnits: Bool, batchSize: Int = 32_000, progress: @escaping (_ bytes: Int64) throws -> Void = { _ in },
    deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport {
    try read(files, repairsUnits: repairsUnits, batchSize: batchSize, progress, deliver)
  }

  public func read(
    _ options: ReadingOptions, progress: @escaping (_ bytes: Int64) throws -> Void,
    deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport {
    try read(repairsUnits: options.repairsUnits, progress: progress, deliver: deliver)
  }

  private static let traits = Dictionary(
    uniqueKeysWithValues: Person.Trait.allCases.map { ($0.type, HealthPushMetric($0.type, payload: nil).key) })

  private func read(
    _ files: [DayFile], repairsUnits: Bool, batchSize: Int, _ progress: (Int64) throws -> Void,
    _ deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport {
    var collector = SampleCollector(size: batchSize, deliver: deliver)
    var bytes: Int64 = 0
    for file in files {
      let path = "\(path)/\(file.name)"
      let source = SizedSource(try FileSource(path: path), path: path, size: file.size)
      var reader = HealthPushReader(
        key: file.key, modified: file.modified, repairsUnits: repairsUnits, traits: Self.traits)
      do {
        try reader.read(source, path: path, into: &collector)
      } catch is SampleFileError {
        collector.report.skipped.add("\(file.name) from somewhere on, which cannot be read") { nil }
      }
      bytes += file.size
      try progress(bytes)
    }
    collector.report.isComplete = true
    return try collector.finish()
  }
}
