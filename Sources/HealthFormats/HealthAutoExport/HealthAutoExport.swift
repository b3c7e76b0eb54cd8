import Foundation
import HealthModel

/// A JSON file of the app Health Auto Export (version 1 or 2), sent by a REST automation or exported.
///
/// Its numbers are aggregates, not HealthKit samples, so they have types of their own: `hae.` and the metric's name
/// in the file, such as `hae.step_count`. They never replace HealthKit samples and are not counted with them.
///
/// - A point `{date, qty, source}` becomes a quantity in the file's unit. A point with more members (`Min`, `Avg`,
///   `Max`, sleep, blood pressure) keeps them as a payload of kind `healthAutoExport`. A point is a reading of a
///   metric for a date, a period and a sorted list of sources; the newest reading replaces older ones. Its age is
///   that of the newest date in the file, unless the caller knows better.
/// - A point of a file that is not aggregated, a segment of sleep, and an element of any other list (`hae.ecg`,
///   `hae.state_of_mind`, ...) are never replaced.
/// - A workout is kept whole as `hae.workout`. If its `id` is a UUID, it is HealthKit's, and the workout is also
///   imported as a HealthKit workout with that UUID.
public struct HealthAutoExport: RecordFormat {
  private let content: FileContent

  /// The path as the person gave it, for messages.
  public var path: String { content.path }
  /// The size of the file when it was recognised, before any decompression.
  public var totalBytes: Int64 { content.size }

  /// Twice the size of the file, which is read twice.
  public var workBytes: Int64 { 2 * totalBytes }

  /// The maximum size of one point or workout in bytes; a workout includes its route and heart rates.
  static let maximumValue = 64 << 20

  init(_ content: FileContent) { self.content = content }

  init(bytes: [UInt8]) { self.init(FileContent(bytes)) }

  public static func recognise(_ candidate: ImportCandidate) throws -> HealthAutoExport? {
    guard let file = candidate.file else { return nil }
    if file.head.bytes.starts(with: Array("bvx2".utf8)) || file.head.bytes.starts(with: Array("bvxn".utf8)) {
      throw SampleFileError.synchronisationFile(path: candidate.path)
    }
    if isTable(file.head) { throw SampleFileError.autoExportTable(path: candidate.path) }
    return isJSON(file.head) ? HealthAutoExport(file.content) : nil
  }

  /// The names of lists in `data` that identify a Health Auto Export file.
  private static let lists: Set<String> = [
    "metrics", "workouts", "stateOfMind", "medications", "symptoms", "cycleTracking", "ecg", "heartRateNotifications",
  ]

  /// Returns whether the file has the app's form. The app sends `{"data":{}}` if it has nothing to send.
  static func isJSON(_ head: FileHead) -> Bool {
    guard let data = head.object?.data else { return false }
    return data.isEmpty || data.contains { lists.contains($0) }
  }

  /// Returns whether the file is one of the app's CSV tables: metrics (`Date/Time,Active Energy (kJ),…`, in the
  /// phone's language) or workouts.
  private static func isTable(_ head: FileHead) -> Bool {
    guard case .table(let names) = head.form else { return false }
    if names.starts(with: ["Workout Type", "Start", "End", "Duration"]) { return true }
    guard names.count > 1, names[0].split(separator: "/").count == 2 else { return false }
    return names[1].hasSuffix(")") && names[1].contains(" (")
  }

  public var road: SampleRoad { .healthAutoExport }

  public func read(
    _ options: ReadingOptions, progress: @escaping (_ bytes: Int64) throws -> Void,
    deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport {
    try read(asOf: options.asOf, progress: progress, deliver: deliver)
  }

  /// Reads the file. Needs memory for its largest point or workout. Blocks: call it on a thread of your own.
  ///
  /// - Parameters:
  ///   - asOf: the time at which the file was made, if known.
  ///   - period: the span of time that one point covers, if known; otherwise derived from the points' dates.
  /// - Throws: ``SampleFileError`` or ``ImportError``, or what the closures throw.
  public func read(
    asOf: Timestamp? = nil, period: AggregationPeriod? = nil, batchSize: Int = 10_000,
    progress: @escaping (_ bytes: Int64) throws -> Void = { _ in }, deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport {
    try read(
      asOf: asOf, period: period, batchSize: batchSize, chunkSize: 256 << 10, progress: progress, deliver: deliver)
  }

  func read(
    asOf: Timestamp? = nil, period: AggregationPeriod? = nil, batchSize: Int, chunkSize: Int,
    progress: @escaping (Int64) throws -> Void = { _ in }, deliver: @escaping (SampleBatch) throws -> Void
  ) throws -> ImportReport {
    var survey = AutoExportScan()
    do {
      let source = try content.open()
      try AutoExportParser.walk(scanner(source, chunkSize), into: &survey) { _ in try progress(source.position) }
    } catch SampleFileError.endsEarly {
      // The second pass ends at the same place, after everything that is whole.
    }
    let base = totalBytes
    var reader = AutoExportReader(
      survey: survey, asOf: asOf ?? survey.newest ?? modified, period: period ?? survey.periods.period,
      collector: SampleCollector(size: batchSize, deliver: deliver))
    do {
      let source = try content.open()
      try AutoExportParser.walk(scanner(source, chunkSize), into: &reader) { _ in try progress(base + source.position) }
      reader.collector.report.isComplete = true
    } catch SampleFileError.endsEarly(_, let position) {
      reader.collector.report.end = position
    }
    return try reader.collector.finish()
  }

  private func scanner(_ source: ContentSource, _ chunkSize: Int) -> JSONScanner {
    JSONScanner(source: source, path: path, chunkSize: chunkSize)
  }

  /// The file's modification time, or 1970-01-01 for a file in memory.
  private var modified: Timestamp {
    var status = stat()
    guard let path = content.filePath, stat(path, &status) == 0 else { return Timestamp(seconds: 0) }
    return Timestamp(seconds: Int64(status.st_mtim.tv_sec))
  }
}
