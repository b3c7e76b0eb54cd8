import Foundation
import HealthModel
import Testing

@testable import HealthFormats

/// Tests that no file of an export is skipped silently.
@Suite struct UnreadFileTests {
  private let folder: TemporaryFolder
  private static let files = [
    "workout-routes/a.gpx": GPXText.file([GPXText.point(0), GPXText.point(10, 52.75)]),
    "electrocardiograms/a.csv": ElectrocardiogramText.file(),
  ]

  init() throws { folder = try TemporaryFolder() }

  private enum Form: CaseIterable { case zip, salvaged, unpacked }

  private func read(
    _ files: [String: String], as form: Form = .zip, separator: String = "/"
  ) throws -> Reading {
    var zip = ZipBytes()
    let xml = ExportText(ExportText.record()).text
    for (name, text) in files.merging(["export.xml": xml], uniquingKeysWith: { $1 }).sorted(by: { $0.key < $1.key }) {
      let name = "apple_health_export/\(name)".replacing("/", with: separator)
      if form == .unpacked { try folder.write(text, to: "unpacked/\(name)") } else { zip.add(name, Array(text.utf8)) }
    }
    if form == .unpacked { return try Reading(AppleHealthExport(path: "\(folder.path)/unpacked")) }
    let bytes = form == .zip ? zip.withDirectory : zip.withDirectory(saidToBeAt: 7)
    return try Reading(AppleHealthExport(path: folder.write(bytes, to: "export.zip")))
  }

  @Test("folders may be separated by backslashes", arguments: Form.allCases)
  private func backslashes(form: Form) throws {
    let expected = try read(Self.files)
    #expect(Set(expected.samples.map(\.type)).isSuperset(of: [.workoutRoute, .electrocardiogram]))
    let reading = try read(Self.files, as: form, separator: "\\")
    #expect(reading.uuids == expected.uuids)
    #expect(reading.report.remarks == expected.report.remarks)
  }

  @Test("a name may have a backslash where slashes separate")
  func names() throws {
    let reading = try read(["electrocardiograms/a\\b.csv": ElectrocardiogramText.file()])
    #expect(reading.samples.contains { $0.type == .electrocardiogram })
  }

  @Test("what nothing refers to is named, with its number", arguments: [Form.zip, .unpacked])
  private func named(form: Form) throws {
    let others = [
      "electrocardiograms/a.pdf": "%PDF", "electrocardiograms/b.pdf": "%PDF", "workout-routes/notes.txt": "x",
      "clinical-records/Observation-1.json": "{}", "workout-routes/.DS_Store": "x",
    ]
    let reading = try read(Self.files.merging(others) { $1 }, as: form)
    let unread = reading.report.remarks.filter { $0.key.contains("not read") }.mapValues(\.count)
    let end = ": not read, since nothing refers to it"
    #expect(
      unread == [
        "electrocardiograms/*.pdf" + end: 2, "workout-routes/notes.txt" + end: 1,
        "clinical-records/Observation-1.json" + end: 1,
      ])
    #expect(try read(Self.files, as: .salvaged).report.remarks.keys.allSatisfy { !$0.contains("not read") })
  }

  @Test("what another export in the same zip refers to is not said to be unread")
  func otherExports() throws {
    let files = ["old/export.xml": ExportText(ExportText.record()).text, "old/workout-routes/b.gpx": "<gpx/>"]
    #expect(try read(files).report.remarks.isEmpty)
  }

  @Test("of very many kinds some are named, and the rest counted")
  func many() throws {
    let files = Dictionary(uniqueKeysWithValues: (0..<50).map { ("folder-\($0)/a.bin", "x") })
    let remarks = try read(files).report.remarks
    #expect(remarks.count == 21)
    #expect(remarks["other files: not read, since nothing refers to them"]?.count == 30)
  }
}
