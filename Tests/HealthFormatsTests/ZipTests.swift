import CZip
import Foundation
import HealthModel
import Testing

@testable import HealthFormats

@Suite struct ZipTests {
  private let folder: TemporaryFolder
  private let xml = StandardExport.text
  private let expected: Set<UUID>

  init() throws {
    folder = try TemporaryFolder()
    expected = try Reading(xml).uuids
  }

  /// Writes a zip file with libzip. Names are raw bytes, so that no flag indicates their encoding.
  private func zip(
    _ members: [(name: String, content: String)], stored: Bool = false, password: String? = nil
  ) throws -> String {
    let path = "\(folder.path)/\(UUID().uuidString).zip"
    var code: Int32 = 0
    let archive = try #require(zip_open(path, ZIP_CREATE, &code))
    for (name, content) in members {
      let bytes = Array(content.utf8)
      let copy = try #require(malloc(max(1, bytes.count)))
      copy.copyMemory(from: bytes, byteCount: bytes.count)
      let source = try #require(zip_source_buffer(archive, copy, zip_uint64_t(bytes.count), 1))
      let index = zip_file_add(archive, name, source, zip_flags_t(ZIP_FL_ENC_RAW))
      try #require(index >= 0)
      if stored { zip_set_file_compression(archive, zip_uint64_t(index), zip_int32_t(ZIP_CM_STORE), 0) }
      if let password {
        zip_file_set_encryption(archive, zip_uint64_t(index), zip_uint16_t(ZIP_EM_AES_256), password)
      }
    }
    try #require(zip_close(archive) == 0)
    return path
  }

  private func error(_ path: String) -> ImportError? {
    do {
      _ = try Reading(try AppleHealthExport(path: path))
      return nil
    } catch {
      return error as? ImportError
    }
  }

  @Test(arguments: [
    "apple_health_export/export.xml", "apple_health_export/导出.xml", "export.xml", "a/b/c/d/Exportieren.XML",
    "../../evil.xml",
    "/absolute.xml",
  ])
  func theMemberMayHaveAnyName(name: String) throws {
    let path = try zip([(name, xml)])
    let reading = try Reading(try AppleHealthExport(path: path))
    #expect(reading.uuids == expected)
    #expect(reading.report.isComplete)
  }

  /// libzip then reports a missing entry, which must not be taken for a missing file.
  @Test func aSizeThatIsElsewhereAndMissingIsDamage() throws {
    let path = try zip([("apple_health_export/export.xml", xml)])
    var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    let directory = try #require(bytes.firstRange(of: [0x50, 0x4B, 1, 2] as [UInt8])).lowerBound
    for index in directory + 24..<directory + 28 { bytes[index] = 0xFF }
    let reading = try Reading(try AppleHealthExport(path: folder.write(bytes, to: "zip64.zip")))
    #expect(reading.uuids == expected)
    #expect(reading.report.isComplete)
    #expect(error("\(folder.path)/none.zip") == .noSuchFile(path: "\(folder.path)/none.zip"))
  }

  @Test func otherMembersAreLeftAlone() throws {
    let path = try zip([
      ("__MACOSX/apple_health_export/._export.xml", xml + xml), ("apple_health_export/._export.xml", xml + xml),
      ("apple_health_export/export_cda.xml", "<ClinicalDocument>" + String(repeating: "<HealthData/>", count: 5000)),
      ("apple_health_export/workout-routes/route.gpx", "<gpx/>"), ("apple_health_export/empty.xml", ""),
      ("apple_health_export/export.xml", xml),
    ])
    #expect(try Reading(try AppleHealthExport(path: path)).uuids == expected)
  }

  @Test func storedMembersAreRead() throws {
    #expect(try Reading(try AppleHealthExport(path: try zip([("export.xml", xml)], stored: true))).uuids == expected)
  }

  @Test func aNameWithoutTheZipEndingWillDo() throws {
    let path = try zip([("export.xml", xml)])
    let renamed = "\(folder.path)/health"
    try FileManager.default.moveItem(atPath: path, toPath: renamed)
    #expect(try Reading(try AppleHealthExport(path: renamed)).uuids == expected)
  }

  @Test func aPasswordIsNamed() throws {
    let path = try zip([("export.xml", xml)], password: "secret")
    #expect(error(path) == .encryptedZip(path: path))
  }

  @Test(
    arguments: [(9, "Deflate64"), (14, "LZMA"), (93, "Zstandard"), (98, "PPMd"), (77, "method 77")]
      as [(UInt64, String)])
  func aMethodOfCompressionThatIsNotSupportedIsNamed(method: UInt64, name: String) throws {
    var zip = ZipBytes()
    zip.claimedMethod = method
    zip.add("apple_health_export/export.xml", Array(xml.utf8))
    // As it is, and without its end.
    for bytes in [zip.withDirectory, zip.bytes] {
      let path = try folder.write(bytes, to: "export.zip")
      #expect(error(path) == .unsupportedCompression(path: path, method: name))
    }
  }

  @Test func aFileBesideThatCannotBeUnpackedIsNamed() throws {
    var zip = ZipBytes()
    zip.add("export.xml", Array(xml.utf8))
    zip.claimedMethod = 14
    zip.add("workout-routes/a.gpx", Array("<gpx/>".utf8))
    let reading = try Reading(try AppleHealthExport(path: try folder.write(zip.withDirectory, to: "export.zip")))
    #expect(reading.uuids == expected)
    #expect(
      reading.report.remarks["workout-routes/a.gpx: it is compressed with LZMA, which is not supported"]?.count == 1)
  }

  @Test func aZipWithoutTheXMLSaysSo() throws {
    for members in [[("photo.jpg", "x")], [("empty.xml", "")]] {
      let path = try zip(members)
      #expect(error(path) == .exportXMLMissing(path: path))
    }
    let path = try zip([("export_cda.xml", "<ClinicalDocument/>")])
    #expect(error(path) == .onlyClinicalDocument(path: path))
  }

  @Test func ofAZipCutShortWhatIsWholeIsRead() throws {
    let path = try zip([("export.xml", xml)])
    let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    for cut in stride(from: 30, to: bytes.count, by: bytes.count / 23) {
      let short = try folder.write(Array(bytes[..<cut]), to: "short.zip")
      do {
        let reading = try Reading(try AppleHealthExport(path: short))
        #expect(!reading.report.isComplete)
        #expect(reading.report.end != nil || reading.uuids == expected)
      } catch ImportError.damagedZip(_, _, let someKept) {
        // Not even the beginning of the XML is there.
        #expect(!someKept && cut < 800)
      }
    }
  }

  @Test func aWrongChecksumIsDamageAndImportsNothing() throws {
    // Larger than what is looked at to recognise an export.
    let records = (0..<2000).map { ExportText.record(at: $0, value: "6\($0)") }
    let path = try zip([("export.xml", ExportText(records).text)], stored: true)
    var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    let value = try #require(bytes.firstRange(of: Array("value=\"6".utf8))).upperBound
    bytes[value] ^= 1
    let damaged = try folder.write(bytes, to: "damaged.zip")
    let export = try AppleHealthExport(path: damaged)
    #expect(throws: ImportError.damagedZip(path: damaged, detail: "CRC error", someKept: false)) {
      try export.survey()
    }
  }

  @Test func aSizeThatLiesIsDamage() throws {
    let path = try zip([("export.xml", xml)])
    var bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    // The uncompressed size in the central directory (APPNOTE.TXT 4.3.12).
    let header = try #require(bytes.firstRange(of: [0x50, 0x4B, 1, 2] as [UInt8])).lowerBound
    bytes.replaceSubrange(header + 24..<header + 28, with: [0xE8, 3, 0, 0])
    let lying = try folder.write(bytes, to: "lying.zip")
    guard case .damagedZip = error(lying) else {
      Issue.record("\(String(describing: error(lying)))")
      return
    }
  }

  @Test func aFlippedByteNeverCrashes() throws {
    let path = try zip([("export.xml", xml)])
    let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
    var generator = SeededGenerator(21)
    for _ in 0..<300 {
      var damaged = bytes
      damaged[Int.random(in: damaged.indices, using: &generator)] = UInt8.random(in: .min ... .max, using: &generator)
      let file = try folder.write(damaged, to: "flipped.zip")
      // Damage is found, or was somewhere that does not matter.
      if error(file) == nil { #expect(try Reading(try AppleHealthExport(path: file)).uuids == expected) }
    }
  }

  @Test func stoppingEarlyEndsTheReadingThread() throws {
    struct Stop: Error {}
    let records = (0..<20_000).map { ExportText.record(at: $0) }
    let path = try zip([("export.xml", ExportText(records).text)])
    let export = try AppleHealthExport(path: path)
    let survey = try export.survey()
    for _ in 0..<20 {
      #expect(throws: Stop.self) { try export.read(survey, batchSize: 10) { _ in throw Stop() } }
    }
  }
}
