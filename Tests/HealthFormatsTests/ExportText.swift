import Foundation
import HealthModel

@testable import HealthFormats

/// A builder of an export's XML.
struct ExportText {
  var header =
    #"<?xml version="1.0" encoding="UTF-8"?>"# + "\n<!DOCTYPE HealthData [\n"
    + "<!-- HealthKit Export Version: 14 -->\n<!ELEMENT HealthData ANY>\n]>\n"
  var locale = "en_DE"
  var body: [String] = []

  static let heartRate = "HKQuantityTypeIdentifierHeartRate"
  static let distance = "HKQuantityTypeIdentifierDistanceWalkingRunning"
  static let sleep = "HKCategoryTypeIdentifierSleepAnalysis"

  init(_ body: String...) { self.body = body }
  init(_ body: [String]) { self.body = body }

  var text: String {
    header + "<HealthData locale=\"\(locale)\">\n <ExportDate value=\"2024-07-01 12:00:00 +0200\"/>\n"
      + body.map { " \($0)\n" }.joined() + "</HealthData>\n"
  }

  /// Returns a record at `second` seconds after 2024-06-15 10:00:00 +0200.
  static func record(
    _ type: String = heartRate, at second: Int = 0, value: String? = "72", unit: String? = "count/min",
    source: String = "Watch", device: String? = nil, created: Bool = true, offset: Int = 2, extra: String = "",
    children: String = ""
  ) -> String {
    let date = date(second, offset: offset)
    var text = #"<Record type="\#(type)" sourceName="\#(source)" sourceVersion="10.1""#
    if let device { text += #" device="\#(device)""# }
    if let unit { text += #" unit="\#(unit)""# }
    if created { text += #" creationDate="\#(date)""# }
    text += #" startDate="\#(date)" endDate="\#(date)""#
    if let value { text += #" value="\#(value)""# }
    if !extra.isEmpty { text += " " + extra }
    return text + (children.isEmpty ? "/>" : ">\(children)</Record>")
  }

  static func metadata(_ key: String, _ value: String) -> String {
    #"<MetadataEntry key="\#(key)" value="\#(value)"/>"#
  }

  /// Returns seconds after 2024-06-15 08:00:00 UTC as printed by an export with an offset of `offset` hours.
  static func date(_ second: Int, offset: Int = 2) -> String {
    let instant = Timestamp(seconds: start.seconds + Int64(second + offset * 3600)).iso8601
    let sign = offset < 0 ? "-" : "+"
    return instant.replacing("T", with: " ").dropLast() + " \(sign)\(String(format: "%02d", abs(offset)))00"
  }

  static let start = Timestamp(seconds: 1_718_438_400)
}

/// The complete result of reading an export.
struct Reading {
  var samples: [Sample] = []
  var readings: [Sample] = []
  var batches: [Int] = []
  var survey = ExportSurvey()
  var report = ImportReport()

  init(_ text: String, batchSize: Int = 10_000, chunkSize: Int = 1 << 16) throws {
    try self.init(bytes: Array(text.utf8), batchSize: batchSize, chunkSize: chunkSize)
  }

  init(bytes: [UInt8], batchSize: Int = 10_000, chunkSize: Int = 1 << 16) throws {
    try self.init(AppleHealthExport(bytes), batchSize: batchSize, chunkSize: chunkSize)
  }

  init(_ export: AppleHealthExport, batchSize: Int = 10_000, chunkSize: Int = 1 << 16) throws {
    var (samples, readings, batches): ([Sample], [Sample], [Int]) = ([], [], [])
    survey = try export.survey(chunkSize: chunkSize)
    report = try export.read(survey, batchSize: batchSize, chunkSize: chunkSize) { batch in
      samples += try batch.samples()
      readings += batch.readings
      batches.append(batch.count)
    }
    (self.samples, self.readings, self.batches) = (samples, readings, batches)
  }

  init(_ text: ExportText, chunkSize: Int = 1 << 16) throws { try self.init(text.text, chunkSize: chunkSize) }

  var uuids: Set<UUID> { Set(samples.map(\.uuid)) }
  var recordCount: Int { report.records.values.reduce(0, +) }
  var nestedCount: Int { report.nestedRecords.values.reduce(0, +) }
}

extension AppleHealthExport {
  init(_ bytes: [UInt8]) { self.init(origin: .memory(bytes), totalBytes: Int64(bytes.count), location: "memory") }

  func read(
    _ survey: ExportSurvey, batchSize: Int, chunkSize: Int, identityNames: [String: String] = [:],
    progress: (Int64) throws -> Void = { _ in }, deliver: (ImportBatch) throws -> Void
  ) throws -> ImportReport {
    try read(
      survey, identityNames: identityNames, batchSize: batchSize, chunkSize: chunkSize, progress: progress,
      deliver: deliver)
  }
}

extension ImportBatch {
  /// Returns all samples except the readings, with their ranks as ordinals.
  func samples() throws -> [Sample] {
    try changesByRank().flatMap { changes in
      let expander = try ChangeExpander(changes)
      return try changes.samples.map { try expander.sample($0) }
    }
  }
}

/// A folder that is removed with the test.
final class TemporaryFolder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "hpeer-formats-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  @discardableResult
  func write(_ bytes: [UInt8], to name: String) throws -> String {
    let file = "\(path)/\(name)"
    try FileManager.default.createDirectory(
      atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
    try Data(bytes).write(to: URL(fileURLWithPath: file))
    return file
  }

  @discardableResult
  func write(_ text: String, to name: String) throws -> String { try write(Array(text.utf8), to: name) }
}
