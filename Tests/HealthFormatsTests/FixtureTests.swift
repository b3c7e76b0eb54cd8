import Foundation
import HealthModel
import Testing

@testable import HealthFormats

/// Tests with third-party sample files, if there are any: at `HPEER_FIXTURES`, or in `shared/data/fixtures` beside
/// the package.
@Suite struct FixtureTests {
  static let folder: String? = {
    if let path = ProcessInfo.processInfo.environment["HPEER_FIXTURES"] { return path }
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let path = root.deletingLastPathComponent().appendingPathComponent("shared/data/fixtures").path
    return FileManager.default.fileExists(atPath: path) ? path : nil
  }()

  /// Returns the counts, such as `Record=11101 nested=162`, from the table in the fixtures' README, by file name.
  private static func expected(in folder: String) throws -> [String: Int] {
    let readme = try String(contentsOfFile: "\(folder)/README.md", encoding: .utf8)
    var result: [String: Int] = [:]
    for line in readme.split(separator: "\n") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 5, let match = cells[4].firstMatch(of: /Record=(\d+)/) else { continue }
      result[cells[0]] = Int(match.1)
    }
    return result
  }

  /// Returns the number of records in comments, because the table counts start tags anywhere.
  private static func recordsInComments(_ path: String) throws -> Int {
    let text = try String(decoding: Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    return text.matches(of: /(?s)<!--.*?-->/).map { $0.output.matches(of: /<Record[ >]/).count }.reduce(0, +)
  }

  @Test(.enabled(if: folder != nil, "no sample files: set HPEER_FIXTURES to their folder"))
  func everyRecordOfTheSampleFilesIsRead() throws {
    let folder = try #require(Self.folder)
    let expected = try Self.expected(in: folder)
    var compared = 0
    for case let name as String in try #require(FileManager.default.enumerator(atPath: folder)) {
      guard name.hasSuffix(".xml") || name.hasSuffix(".zip") else { continue }
      do {
        let reading = try Reading(try AppleHealthExport(path: "\(folder)/\(name)"))
        if let records = expected[name], name.hasPrefix("real/") || name.hasPrefix("synthetic/") {
          let commented = try Self.recordsInComments("\(folder)/\(name)")
          #expect(reading.recordCount + reading.nestedCount == records - commented, "\(name)")
          compared += 1
        }
        #expect(Set(reading.samples.map(\.uuid)).count >= reading.recordCount, "\(name)")
      } catch let error as ImportError {
        #expect(!name.hasPrefix("real/") && !name.hasPrefix("synthetic/"), "\(name): \(error)")
      }
    }
    #expect(compared >= 10)
  }
}
