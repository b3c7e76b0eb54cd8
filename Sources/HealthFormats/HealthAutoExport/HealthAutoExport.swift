import Foundation
import HealthModel

/// A JSON file of the app Health Auto Export: what its REST automations send and its exports hold, version 1 and 2.
///
/// Its numbers are aggregates, not samples of HealthKit, and so have types of their own: `hae.` and the metric's name as
/// the file has it, such as `hae.step_count`. They never take the place of a sample, nor are they counted among samples.
///
/// - A point `{date, qty, source}` is a quantity in the file's unit; one that says more (`Min`, `Avg`, `Max`, sleep, blood
///   pressure) keeps its members as a payload of kind `healthAutoExport`. It is the reading of a metric, for a date and a
///   period, from a sorted list of sources; the newest reading replaces older ones. How new it is, the file does not say:
///   as new as the newest date in the file, unless the caller knows better.
/// - A point of a file that is not aggregated, a segment of sleep, and what the other lists hold (`hae.ecg`,
///   `hae.state_of_mind`, ...) are what they are, and never replaced.
/// - A workout is kept whole as `hae.workout`. With a UUID as its `id` it is HealthKit's, and also comes as a workout under
///   that UUID.
public struct HealthAutoExport: RecordFormat {
  private let content: FileContent

  /// As the person gave it, for messages.
  public var path: String { content.path }
  /// The size of the file when it was recognised; of one that is compressed, as it is.
  public var totalBytes: Int64 { content.size }

  /// The file is read twice.
  public var workBytes: Int64 { 2 * totalBytes }

  /// Maximum bytes of one point or workout; a workout holds its route and its heart rates.
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

  /// The lists that only Health Auto Export has in its `data`.
  private static let lists: Set<String> = [
    "metrics", "workouts", "stateOfMind", "medications", "symptoms", "cycleTracking", "ecg", "heartRateNotifications",
  ]

  /// Whether it is what the app sends and exports; `{"data":{}}` is what it sends where there is nothing.
  static func isJSON(_ head: FileHead) -> Bool {
    guard let data = head.object?.data else { return false }
    return data.isEmpty || data.contains { lists.contains($0) }
  }

  /// `Date/Time,Active Energy (kJ),…`, in the phone's language, and the table of workouts beside it.
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

  /// Reads the file in memory for its largest point or workout. Blocks: call it on a thread of your own.
  ///
  /// - Parameters:
  ///   - asOf: when the file was made, where that is known.
  ///   - period: what its points stand for, where that is known; else told by their dates.
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
    var survey = AutoExportSurvey()
    do {
      let source = try content.open()
      try AutoExportWalk.walk(scanner(source, chunkSize), into: &survey) { _ in try progress(source.position) }
    } catch SampleFileError.endsEarly {
      // The second time it ends there too, after what is whole.
    }
    let base = totalBytes
    var reader = AutoExportReader(
      survey: survey, asOf: asOf ?? survey.newest ?? modified, period: period ?? survey.periods.period,
      collector: SampleCollector(size: batchSize, deliver: deliver))
    do {
      let source = try content.open()
      try AutoExportWalk.walk(scanner(source, chunkSize), into: &reader) { _ in try progress(base + source.position) }
      reader.collector.report.isComplete = true
    } catch SampleFileError.endsEarly(_, let position) {
      reader.collector.report.end = position
    }
    return try reader.collector.finish()
  }

  private func scanner(_ source: ContentSource, _ chunkSize: Int) -> JSONScanner {
    JSONScanner(source: source, path: path, chunkSize: chunkSize)
  }

  /// When the file was written last; of one in memory the beginning of time.
  private var modified: Timestamp {
    var status = stat()
    guard let path = content.filePath, stat(path, &status) == 0 else { return Timestamp(seconds: 0) }
    return Timestamp(seconds: Int64(status.st_mtim.tv_sec))
  }
}
