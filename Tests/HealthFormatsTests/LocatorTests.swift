import Foundation
import HealthModel
import Testing

@testable import HealthFormats

/// Tests of the location of an export, and of the messages if there is none.
@Suite struct LocatorTests {
  private let folder: TemporaryFolder
  private let xml = ExportText(ExportText.record()).text
  private let clinical =
    "<?xml version=\"1.0\"?>\n<ClinicalDocument xmlns=\"urn:hl7-org:v3\"><HealthData/></ClinicalDocument>"

  init() throws { folder = try TemporaryFolder() }

  private func records(_ path: String) throws -> Int { try Reading(try AppleHealthExport(path: path)).recordCount }

  private func failure(_ path: String) -> ImportError? {
    do throws(ImportError) {
      _ = try AppleHealthExport(path: path)
      return nil
    } catch {
      return error
    }
  }

  // MARK: Files and folders

  @Test func theXMLMayHaveAnyName() throws {
    #expect(try records(try folder.write(xml, to: "导出.txt")) == 1)
  }

  @Test func aFolderOrItsParentWillDo() throws {
    try folder.write(clinical + String(repeating: " ", count: 9000), to: "unpacked/apple_health_export/export_cda.xml")
    try folder.write(xml, to: "unpacked/apple_health_export/Exportieren.xml")
    try folder.write("x", to: "unpacked/__MACOSX/._export.xml")
    #expect(try records("\(folder.path)/unpacked") == 1)
    #expect(try records("\(folder.path)/unpacked/apple_health_export") == 1)
    #expect(try records("\(folder.path)/unpacked/") == 1)
  }

  @Test func allExportsInAFolderAreFound() throws {
    try folder.write(xml, to: "apple_health_export/export.xml")
    try folder.write(ExportText(ExportText.record(), ExportText.record(at: 1)).text, to: "2/Exportieren.xml")
    try folder.write("<notes/>", to: "2/notes.xml")
    let exports = try AppleHealthExport.all(at: folder.path)
    #expect(
      exports.map { $0.location.replacing(folder.path, with: "") } == [
        "/2/Exportieren.xml", "/apple_health_export/export.xml",
      ])
    #expect(try exports.map { try Reading($0).recordCount } == [2, 1])
    guard case .appleHealth(let recognised) = try ImportFile.recognise(folder.path) else {
      Issue.record("not recognised")
      return
    }
    #expect(recognised.map(\.location) == exports.map(\.location))
  }

  @Test func allExportsInAZipAreFoundAndKnownApart() throws {
    var zip = ZipBytes()
    zip.add("old/export.xml", Array(xml.utf8))
    zip.add("old/workout-routes/a.gpx", Array("<gpx/>".utf8))
    zip.add("new/export.xml", Array(ExportText(ExportText.record(), ExportText.record(at: 1)).text.utf8))
    // As it is, and without its end.
    for (bytes, count) in [(zip.withDirectory, 2), (zip.bytes, 2)] {
      let exports = try AppleHealthExport.all(at: try folder.write(bytes, to: "both.zip"))
      #expect(exports.count == count)
      #expect(try exports.map { try Reading($0).recordCount } == [2, 1])
      #expect(try exports.map { try $0.folder().members.map(\.name) } == [[], ["workout-routes/a.gpx"]])
      #expect(try Set(exports.map { try $0.digest(isCancelled: { false }) }).count == count)
    }
  }

  @Test(
    arguments: [
      ("", "", nil), (birth("1986"), birth("1986"), nil), (birth("1986"), birth("1987"), "date of birth"),
      (birth("1986"), "", "date of birth"), (birth("1986") + sex("Female"), birth("1986") + sex("NotSet"), nil),
      (birth("1986") + sex("Female"), birth("1986") + sex("Male"), "sex"), (sex("Female"), sex("Male"), "sex"),
      (blood("APositive"), blood("ONegative"), "blood type"), (blood("APositive"), blood("NotSet"), nil),
    ] as [(String, String, String?)])
  func whoseTwoExportsAreTheirCharacteristicsTell(one: String, other: String, difference: String?) throws {
    let surveys = try [one, other].map { try Reading(ExportText("<Me \($0)/>")).survey }
    #expect(surveys[0].personDiffers(from: surveys[1]) == difference)
    #expect(surveys[1].personDiffers(from: surveys[0]) == difference)
  }

  @Test func aFolderWithoutOneSaysSo() throws {
    try folder.write("x", to: "notes.txt")
    #expect(failure(folder.path) == .exportXMLMissing(path: folder.path))
  }

  @Test func aFolderOfZipFilesSaysHowTheyAreImported() throws {
    for name in ["notes.txt", "export.zip", "export 2.ZIP"] { try folder.write("x", to: name) }
    #expect(failure(folder.path) == .onlyZipFiles(path: folder.path, first: "\(folder.path)/export 2.ZIP"))
  }

  @Test func nothingThereSaysSo() {
    #expect(failure("\(folder.path)/none.zip") == .noSuchFile(path: "\(folder.path)/none.zip"))
  }

  @Test(arguments: [
    ("", "an empty file"), ("%PDF-1.7", "a PDF document"), ("{\"data\":{}}", "a JSON file"), ("hello", "a text file"),
    ("<html></html>", "another kind of XML or HTML file"), ("<gpx></gpx>", "a GPX track"),
  ])
  func otherFilesAreNamed(content: String, name: String) throws {
    let path = try folder.write(content, to: "file")
    #expect(failure(path) == .notAnExport(path: path, looksLike: name))
  }

  @Test(arguments: [(String.Encoding.utf16, "a text in UTF-16"), (.utf32, "a text in UTF-32")])
  func otherEncodingsAreNamed(encoding: String.Encoding, name: String) throws {
    let path = "\(folder.path)/export.xml"
    try #require("<HealthData></HealthData>".data(using: encoding)).write(to: URL(fileURLWithPath: path))
    #expect(failure(path) == .notAnExport(path: path, looksLike: name))
  }

  @Test func theClinicalDocumentIsNamed() throws {
    let path = try folder.write(clinical, to: "export_cda.xml")
    guard case .notAnExport(_, let looksLike) = failure(path) else {
      Issue.record("was not refused")
      return
    }
    #expect(looksLike.contains("clinical document"))
  }

  @Test(.enabled(if: getuid() != 0, "root may read everything"))
  func missingPermissionIsNamed() throws {
    let path = try folder.write(xml, to: "export.xml")
    chmod(path, 0)
    #expect(failure(path) == .notReadable(path: path))
  }

  @Test("a folder with more folders than any export has is refused, not searched in part")
  func manyFolders() throws {
    for number in 0..<10_001 { #expect(mkdir("\(folder.path)/f\(number)", 0o700) == 0) }
    #expect(failure(folder.path) == .tooManyFolders(path: folder.path, limit: 10_000))
  }

  @Test func everyErrorIsOneSentence() {
    let errors: [ImportError] = [
      .noSuchFile(path: "p"), .notReadable(path: "p"), .notAnExport(path: "p", looksLike: "a PDF document"),
      .exportXMLMissing(path: "p"), .tooManyAlike(limit: 3), .tooManyTypes(limit: 3),
      .tooManyFolders(path: "p", limit: 3), .onlyZipFiles(path: "p", first: "p/a.zip"),
      .onlyClinicalDocument(path: "p"),
      .damagedZip(path: "p", detail: "CRC error", someKept: true),
      .damagedZip(path: "p", detail: "CRC error", someKept: false), .encryptedZip(path: "p"),
      .tooLarge(what: "an element", at: TextPosition(line: 1, column: 2, offset: 3)), .changedWhileReading(path: "p"),
      .unsupportedCompression(path: "p", method: "LZMA"), .ioError(path: "p", detail: "Input/output error"),
    ]
    for error in errors {
      #expect(error.description.hasSuffix("."))
      #expect(!error.description.dropLast().contains(". "))
    }
  }

  @Test func aFileThatShrinksMeanwhileSaysSo() throws {
    let path = try folder.write(xml, to: "export.xml")
    let export = try AppleHealthExport(path: path)
    try folder.write(String(xml.dropLast(20)), to: "export.xml")
    #expect(throws: ImportError.changedWhileReading(path: path)) { try Reading(export) }
  }
}

// Attributes of `Me`.

private func birth(_ year: String) -> String { #"HKCharacteristicTypeIdentifierDateOfBirth="\#(year)-05-06" "# }
private func sex(_ name: String) -> String {
  #"HKCharacteristicTypeIdentifierBiologicalSex="HKBiologicalSex\#(name)" "#
}
private func blood(_ name: String) -> String { #"HKCharacteristicTypeIdentifierBloodType="HKBloodType\#(name)" "# }
