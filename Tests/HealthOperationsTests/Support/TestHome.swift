import Foundation
import HealthFormats
import HealthModel
import HealthOperations
import HealthStore
import TestSupport

/// A temporary home with a store.
final class TestHome: Sendable {
  let directory: TemporaryDirectory
  let home: Home
  let store: HealthStore

  init() throws {
    directory = try TemporaryDirectory(inMemory: true)
    home = Home(path: directory.path("home"), environment: [:])
    store = try home.createStore()
  }

  /// Returns the audit log's events, oldest first.
  func audited() async throws -> [AuditRecord] { try await store.audit.log().records }

  func auditedNames() async throws -> [String] { try await audited().map(\.event) }

  func count(of type: SampleType = AppleExportText.heartRate) async throws -> Int {
    try await store.samples.count(of: type, in: nil)
  }

  /// Writes a file that is removed with the home.
  func file(_ name: String, _ text: String) throws -> String {
    let path = directory.path(name)
    try Data(text.utf8).write(to: URL(filePath: path))
    return path
  }

  /// Returns the relative paths of everything in the temporary directory, including the home.
  func names() throws -> Set<String> {
    Set(try FileManager.default.subpathsOfDirectory(atPath: directory.path))
  }

  func importer(
    _ path: String, _ options: ImportOptions = ImportOptions(), progress: any ProgressObserver = NoProgress(),
    confirm: ImportOperation.PersonConfirmation? = nil
  ) async throws -> ImportOperation {
    try ImportOperation(
      try await ImportFile.recognised(at: path), named: URL(filePath: path).lastPathComponent, options: options,
      progress: progress, confirm: confirm)
  }

  /// Imports heart rates at intervals of a minute.
  @discardableResult
  func fill(_ count: Int = 20) async throws -> ImportResult {
    let path = try file("filling.xml", AppleExportText(heartRates: count).text)
    return try await importer(path).run(into: store)
  }
}

/// The XML of a small Apple Health export.
struct AppleExportText {
  static let heartRate = SampleType("HKQuantityTypeIdentifierHeartRate")
  /// The start of the first record.
  static let start = Timestamp(seconds: 1_718_438_400)

  var heartRates: Int
  /// The date of birth, such as `1987-03-01`, or `nil` for an export without it.
  var dateOfBirth: String?

  init(heartRates: Int, dateOfBirth: String? = nil) {
    self.heartRates = heartRates
    self.dateOfBirth = dateOfBirth
  }

  var text: String {
    var lines = [
      #"<?xml version="1.0" encoding="UTF-8"?>"#, "<!DOCTYPE HealthData [",
      "<!-- HealthKit Export Version: 14 -->", "<!ELEMENT HealthData ANY>", "]>", #"<HealthData locale="en_DE">"#,
      #" <ExportDate value="2024-07-01 12:00:00 +0200"/>"#,
    ]
    if let dateOfBirth {
      lines.append(
        #" <Me HKCharacteristicTypeIdentifierDateOfBirth="\#(dateOfBirth)""#
          + #" HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSexFemale"/>"#)
    }
    for index in 0..<heartRates {
      let date = "2024-06-15 \(10 + index / 60):" + String(format: "%02d", index % 60) + ":00 +0200"
      lines.append(
        #" <Record type="\#(Self.heartRate.rawValue)" sourceName="Watch" sourceVersion="10.1" unit="count/min""#
          + #" creationDate="\#(date)" startDate="\#(date)" endDate="\#(date)" value="\#(60 + index)"/>"#)
    }
    lines.append("</HealthData>")
    return lines.joined(separator: "\n") + "\n"
  }
}
