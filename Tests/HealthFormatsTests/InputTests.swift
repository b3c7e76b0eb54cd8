import CZip
import Foundation
import HealthModel
import Testing

@testable import HealthFormats

/// Tests of folders, standard input, and files beside the XML.
@Suite struct InputTests {
  private let folder: TemporaryFolder
  private let xml = ExportText(ExportText.record()).text
  private let clinical = "<?xml version=\"1.0\"?>\n<ClinicalDocument xmlns=\"urn:hl7-org:v3\"></ClinicalDocument>"

  init() throws { folder = try TemporaryFolder() }

  @Test func foldersInFoldersAreLookedInto() throws {
    try folder.write(xml, to: "a/b/c/d/e/f/Exportieren.xml")
    try folder.write(xml + xml, to: "a/__MACOSX/export.xml")
    #expect(try Reading(try AppleHealthExport(path: folder.path)).recordCount == 1)
  }

  @Test func linksThatLeadElsewhereAreNotFollowed() throws {
    let outside = try TemporaryFolder()
    try outside.write(xml, to: "export.xml")
    try outside.write("<gpx/>", to: "routes/a.gpx")
    try folder.write("x", to: "in/notes.txt")
    let fileManager = FileManager.default
    try fileManager.createSymbolicLink(
      atPath: "\(folder.path)/in/export.xml", withDestinationPath: "\(outside.path)/export.xml")
    try fileManager.createSymbolicLink(atPath: "\(folder.path)/in/folder", withDestinationPath: outside.path)
    try fileManager.createSymbolicLink(atPath: "\(folder.path)/in/loop", withDestinationPath: "\(folder.path)/in")
    #expect(throws: ImportError.exportXMLMissing(path: folder.path)) { try AppleHealthExport(path: folder.path) }

    try folder.write(xml, to: "in/whole/export.xml")
    try fileManager.createSymbolicLink(
      atPath: "\(folder.path)/in/whole/workout-routes", withDestinationPath: "\(outside.path)/routes")
    try folder.write("a", to: "in/whole/electrocardiograms/a.csv")
    try fileManager.createSymbolicLink(
      atPath: "\(folder.path)/in/whole/electrocardiograms/b.csv", withDestinationPath: "/etc/passwd")
    let export = try AppleHealthExport(path: folder.path)
    #expect(try export.folder().members.map(\.name) == ["electrocardiograms/a.csv"])
    // What a person names themselves may be a link.
    try fileManager.createSymbolicLink(atPath: "\(folder.path)/named", withDestinationPath: outside.path)
    #expect(try Reading(try AppleHealthExport(path: "\(folder.path)/named")).recordCount == 1)
  }

  @Test func filesBesideTheXMLAreListedAndOpened() throws {
    try folder.write(xml, to: "x/export.xml")
    try folder.write("<gpx/>", to: "x/workout-routes/route 1.gpx")
    try folder.write("{}", to: "x/clinical-records/a.json")
    try folder.write("x", to: "x/private/notes.txt")
    for path in ["\(folder.path)/x", "\(folder.path)/x/export.xml"] {
      let beside = try AppleHealthExport(path: path).folder()
      #expect(
        beside.members.map { "\($0.name) \($0.size)" } == ["clinical-records/a.json 2", "workout-routes/route 1.gpx 6"])
      let route = try #require(beside.members.last)
      #expect(try beside.source(of: route).prefix(100) == Array("<gpx/>".utf8))
    }
  }

  @Test func filesBesideTheXMLInAZipAreListedAndOpened() throws {
    let path = "\(folder.path)/export.zip"
    var code: Int32 = 0
    let archive = try #require(zip_open(path, ZIP_CREATE, &code))
    let files = [
      ("up/apple_health_export/export.xml", xml), ("up/apple_health_export/workout-routes/a.gpx", "<gpx/>"),
      ("up/apple_health_export/../../evil.gpx", "evil"), ("up/apple_health_export/__MACOSX/._a", "x"),
      ("up/other.txt", "x"), ("up/apple_health_export/export_cda.xml", clinical),
    ]
    for (name, content) in files {
      let bytes = Array(content.utf8)
      let copy = try #require(malloc(bytes.count))
      copy.copyMemory(from: bytes, byteCount: bytes.count)
      let source = try #require(zip_source_buffer(archive, copy, zip_uint64_t(bytes.count), 1))
      try #require(zip_file_add(archive, name, source, zip_flags_t(ZIP_FL_ENC_RAW)) >= 0)
    }
    try #require(zip_close(archive) == 0)
    let export = try AppleHealthExport(path: path)
    let beside = try export.folder()
    #expect(beside.members.map(\.name) == ["export_cda.xml", "workout-routes/a.gpx"])
    #expect(try beside.source(of: beside.members[1]).prefix(100) == Array("<gpx/>".utf8))
    let remarks = try Reading(export).report.remarks.keys
    #expect(remarks.contains { $0.hasPrefix("export_cda.xml") })
  }

  @Test func theClinicalDocumentAloneIsNamed() throws {
    try folder.write(clinical, to: "x/export_cda.xml")
    #expect(throws: ImportError.onlyClinicalDocument(path: folder.path)) { try AppleHealthExport(path: folder.path) }
    try folder.write(xml, to: "x/export.xml")
    let report = try Reading(try AppleHealthExport(path: folder.path)).report
    #expect(report.remarks.count == 1)
    #expect(report.isComplete)
  }

  @Test func whatComesThroughAPipeIsKeptWithoutAName() throws {
    var zip = ZipBytes()
    zip.add("apple_health_export/export.xml", Array(xml.utf8))
    for bytes in [Array(xml.utf8), zip.bytes] {
      let pipe = Pipe()
      let writing = Thread {
        try? pipe.fileHandleForWriting.write(contentsOf: Data(bytes))
        try? pipe.fileHandleForWriting.close()
      }
      writing.start()
      let spooled = try SpooledInput(from: pipe.fileHandleForReading.fileDescriptor, in: folder.path)
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
      #expect(try Reading(try AppleHealthExport(path: spooled.path)).recordCount == 1)
    }
  }

  @Test func errorsOfAPipeNameIt() throws {
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data("hello".utf8))
    try pipe.fileHandleForWriting.close()
    let spooled = try SpooledInput(from: pipe.fileHandleForReading.fileDescriptor, in: folder.path)
    let error = try #require(throws: ImportError.self) { try AppleHealthExport(path: spooled.path) }
    #expect(spooled.naming(error) == .notAnExport(path: "standard input", looksLike: "a text file"))
  }
}
